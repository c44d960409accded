/* Simplifies expressions.  Index arithmetic is brought into the normal form of
 * kernel/index_sum.h: divisions and remainders by positive constants drop
 * multiples of the divisor, then the interval of the rest decides them.  This
 * makes the reads of a reshape affine wherever the dimensions line up.  In
 * other expressions constants are folded where the result is exact
 * (kernel/fold.h). */
#include "config.h"

#include "kernel/fold.h"
#include "kernel/index_sum.h"

/* ---- index arithmetic -------------------------------------------------- */

/* The function of two sums, as a sum; false where it is not one. */
static bool sum_of_function(simplifier *p, fn f, const index_sum *x,
			    const index_sum *y, index_sum *out)
{
	*out = *x;
	switch (f) {
	case FN_ADD:
		return index_sum_add(out, 1, y);
	case FN_SUB:
		return index_sum_add(out, -1, y);
	case FN_NEG:
		*out = (index_sum){ 0 };
		return index_sum_add(out, -1, x);
	case FN_MUL:
		*out = (index_sum){ 0 };
		if (x->n == 0)
			return index_sum_add(out, x->c, y);
		return y->n == 0 && index_sum_add(out, y->c, x);
	case FN_DIV:
		return y->n == 0 && y->c > 0 && y->c < INDEX_LIMIT &&
		       index_divide(p, x, y->c, out);
	case FN_MOD:
		return y->n == 0 && y->c > 0 && y->c < INDEX_LIMIT &&
		       index_remain(p, x, y->c, out);
	default:
		return false;
	}
}

/* Whether f of two sums follows from the interval of their difference, which
 * holds if neither sum wraps around.  Even sums that wrap around are equal only
 * if the difference is 0. */
static bool follows_from(const simplifier *p, fn f, const index_sum *x,
			 const index_sum *y, const index_sum *diff)
{
	span r;
	if (f == FN_EQ || f == FN_NE || (diff->n == 0 && diff->c == 0))
		return true;
	return index_sum_span(p, x, &r) && index_sum_span(p, y, &r);
}

/* min, max and comparisons decided by the interval of x - y, and abs by that of
 * x; NULL if undecided. */
static kexpr *decide(simplifier *p, fn f, kexpr *ex, kexpr *ey,
		     const index_sum *x, const index_sum *y)
{
	index_sum diff = *x;
	span r;
	if (!index_sum_add(&diff, -1, y) || !index_sum_span(p, &diff, &r) ||
	    !follows_from(p, f, x, y, &diff))
		return NULL;
	bool lt = r.hi < 0, le = r.hi <= 0, gt = r.lo > 0, ge = r.lo >= 0;
	bool eq = r.lo == 0 && r.hi == 0, ne = lt || gt;
	switch (f) {
	case FN_MIN:
		return le ? ex : ge ? ey : NULL;
	case FN_MAX:
		return ge ? ex : le ? ey : NULL;
	case FN_ABS:
		return ge ? ex : NULL;
	case FN_LT:
		return lt || ge ? kx_int(p->a, lt, DT_BOOL) : NULL;
	case FN_LE:
		return le || gt ? kx_int(p->a, le, DT_BOOL) : NULL;
	case FN_GT:
		return gt || le ? kx_int(p->a, gt, DT_BOOL) : NULL;
	case FN_GE:
		return ge || lt ? kx_int(p->a, ge, DT_BOOL) : NULL;
	case FN_EQ:
		return eq || ne ? kx_int(p->a, eq, DT_BOOL) : NULL;
	case FN_NE:
		return eq || ne ? kx_int(p->a, ne, DT_BOOL) : NULL;
	default:
		return NULL;
	}
}

/* A function of index arithmetic with simplified arguments; NULL if it stays as
 * it is. */
static kexpr *index_fn(simplifier *p, const kexpr *e, kexpr **args)
{
	kexpr *ey = e->nargs > 1 ? args[1] : kx_int(p->a, 0, DT_I64);
	index_sum *s = ARENA_ARRAY(p->work, index_sum, 3);
	if (!index_sum_add_expr(&s[0], 1, args[0]) ||
	    !index_sum_add_expr(&s[1], 1, ey))
		return NULL;
	if (sum_of_function(p, e->fn, &s[0], &s[1], &s[2])) {
		index_join_parts(p, &s[2]);
		return index_sum_expr(p, &s[2]);
	}
	return decide(p, e->fn, args[0], ey, &s[0], &s[1]);
}

/* ---- the walk ---------------------------------------------------------- */

/* e with other arguments; e itself if they are unchanged. */
static kexpr *rebuild(simplifier *p, const kexpr *e, kexpr **args)
{
	bool same = true;
	for (int i = 0; i < e->nargs; i++)
		same &= args[i] == e->args[i];
	if (same)
		return (kexpr *)e;
	kexpr *r = ARENA_COPY(p->a, e, 1);
	r->args = args;
	return r;
}

static bool are_indices(kexpr *const *args, int n)
{
	for (int i = 0; i < n; i++)
		if (args[i]->type != DT_I64 || kx_has_read(args[i]))
			return false;
	return true;
}

static kexpr *simplify_fn(simplifier *p, const kexpr *e, kexpr **args)
{
	kexpr *r = are_indices(args, e->nargs) ? index_fn(p, e, args) : NULL;
	if (!r)
		r = fold_fn(p->a, e, args);
	return r ? r : rebuild(p, e, args);
}

static kexpr *simplify(simplifier *p, const kexpr *e, int depth)
{
	if (e->nargs == 0 || depth > MAX_KEXPR_DEPTH)
		return (kexpr *)e;
	kexpr **args = ARENA_ARRAY(p->a, kexpr *, e->nargs), *r;
	for (int i = 0; i < e->nargs; i++)
		args[i] = simplify(p, e->args[i], depth + 1);
	switch (e->kind) {
	case KX_FN:
		return simplify_fn(p, e, args);
	case KX_SELECT:
		if (args[0]->kind == KX_INT)
			return args[0]->i ? args[1] : args[2];
		if (kx_equal(args[1], args[2]))
			return args[1];
		break;
	case KX_CAST:
		r = fold_cast(p->a, e->type, args[0]);
		if (r)
			return r;
		break;
	case KX_BITCAST:
		r = fold_bitcast(p->a, e->type, args[0]);
		if (r)
			return r;
		break;
	default:
		break;
	}
	return rebuild(p, e, args);
}

kexpr *kx_simplify(arena *a, const kexpr *e, const kvar *vars)
{
	if (e->nargs == 0)
		return (kexpr *)e;
	simplifier p = { a, arena_new(), vars };
	kexpr *r = simplify(&p, e, 0);
	arena_free(p.work);
	return r;
}
