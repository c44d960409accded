#include "config.h"

#include "base/checked.h"
#include "base/vec.h"
#include "kernel/index_interval.h"

/* ---- compiling sums ---------------------------------------------------- */

/* The depth to which choices inside of conditions of choices are followed; each
 * level costs a constant factor. */
enum { MAX_CHOICES = 3 };

typedef struct builder {
	arena *a;
	const kernel *k;
	int choices;
} builder;

/* A sum under construction. */
typedef struct sum {
	int64_t c;
	int64_t coef[MAX_NVARS];
	VEC(index_term) atoms;
} sum;

static bool accumulate(builder *b, const kexpr *e, int64_t scale, sum *s);
static const cond *cond_of(builder *b, const kexpr *e, bool want);

static bool add_scaled(span *r, int64_t coef, span x)
{
	span p;
	if (!span_mul((span){ coef, coef }, x, &p))
		return false;
	r->lo += p.lo;
	r->hi += p.hi;
	return r->lo >= -INDEX_LIMIT && r->hi <= INDEX_LIMIT;
}

static span var_span(const builder *b, int v)
{
	return (span){ 0, max_i64(b->k->vars[v].extent, 1) - 1 };
}

/* The sum as a lin; false if its values may exceed INDEX_LIMIT. */
static bool finish_sum(builder *b, const sum *s, lin *x)
{
	VEC(index_term) t = { 0 };
	*x = (lin){ .c = s->c, .all = { s->c, s->c },
		    .affine = s->atoms.n == 0 };
	if (s->c < -INDEX_LIMIT || s->c > INDEX_LIMIT)
		return false;
	for (int v = 0; v < b->k->nvars; v++) {
		if (!s->coef[v])
			continue;
		vec_push(b->a, &t, ((index_term){ s->coef[v], v, NULL }));
		if (!add_scaled(&x->all, s->coef[v], var_span(b, v)))
			return false;
	}
	for (int i = 0; i < s->atoms.n; i++) {
		const index_term *p = &s->atoms.at[i];
		if (!p->coef)
			continue;
		vec_push(b->a, &t, *p);
		if (!add_scaled(&x->all, p->coef, p->atom->all))
			return false;
	}
	x->t = t.at;
	x->n = t.n;
	return true;
}

static bool lin_of(builder *b, const kexpr *e, lin *x)
{
	sum s = { 0 };
	return accumulate(b, e, 1, &s) && finish_sum(b, &s, x);
}

static bool add_atom(builder *b, const atom *a, int64_t scale, sum *s)
{
	if (a->all.lo < -INDEX_LIMIT || a->all.hi > INDEX_LIMIT)
		return false;
	if (a->all.lo == a->all.hi) {
		int64_t c;
		return ck_mul(scale, a->all.lo, &c) && ck_add(s->c, c, &s->c);
	}
	vec_push(b->a, &s->atoms, ((index_term){ scale, 0, a }));
	return true;
}

static bool add_lin(builder *b, const lin *x, int64_t scale, sum *s)
{
	int64_t c;
	if (!ck_mul(x->c, scale, &c) || !ck_add(s->c, c, &s->c))
		return false;
	for (int i = 0; i < x->n; i++) {
		const index_term *t = &x->t[i];
		if (!ck_mul(t->coef, scale, &c))
			return false;
		if (t->atom)
			vec_push(b->a, &s->atoms,
				 ((index_term){c, 0, t->atom}));
		else if (!ck_add(s->coef[t->var], c, &s->coef[t->var]))
			return false;
	}
	return true;
}

static bool accumulate_mul(builder *b, const kexpr *e, int64_t scale, sum *s)
{
	atom *a = ARENA_NEW(b->a, atom);
	int64_t c;
	a->kind = ATOM_MUL;
	if (!lin_of(b, e->args[0], &a->x) || !lin_of(b, e->args[1], &a->y))
		return false;
	if (a->x.n == 0)
		return ck_mul(scale, a->x.c, &c) && add_lin(b, &a->y, c, s);
	if (a->y.n == 0)
		return ck_mul(scale, a->y.c, &c) && add_lin(b, &a->x, c, s);
	return span_mul(a->x.all, a->y.all, &a->all) &&
	       add_atom(b, a, scale, s);
}

/* For a negative divisor -d: x / -d is -x / d, and x % -d is -(-x % d). */
static bool accumulate_div(builder *b, const kexpr *e, int64_t scale, sum *s)
{
	atom *a = ARENA_NEW(b->a, atom);
	lin by;
	sum x = { 0 };
	if (!lin_of(b, e->args[1], &by) || by.n || !by.c)
		return false;
	if (!accumulate(b, e->args[0], by.c < 0 ? -1 : 1, &x) ||
	    !finish_sum(b, &x, &a->x))
		return false;
	a->d = by.c < 0 ? -by.c : by.c;
	if (e->fn == FN_DIV) {
		a->kind = ATOM_DIV;
		a->all = span_div(a->x.all, a->d);
	} else {
		a->kind = ATOM_MOD;
		a->all = span_mod(a->x.all, a->d);
		if (by.c < 0)
			scale = -scale;
	}
	if (a->d == 1)
		return a->kind == ATOM_MOD || add_lin(b, &a->x, scale, s);
	return add_atom(b, a, scale, s);
}

static bool accumulate_extreme(builder *b, const kexpr *e, int64_t scale,
			       sum *s)
{
	atom *a = ARENA_NEW(b->a, atom);
	if (!lin_of(b, e->args[0], &a->x))
		return false;
	if (e->fn == FN_ABS) {
		a->kind = ATOM_ABS;
		a->all = span_abs(a->x.all);
		return add_atom(b, a, scale, s);
	}
	if (!lin_of(b, e->args[1], &a->y))
		return false;
	if (e->fn == FN_MIN) {
		a->kind = ATOM_MIN;
		a->all = span_min(a->x.all, a->y.all);
	} else {
		a->kind = ATOM_MAX;
		a->all = span_max(a->x.all, a->y.all);
	}
	return add_atom(b, a, scale, s);
}

static bool accumulate_choice(builder *b, const kexpr *when, const lin *x,
			      const lin *y, int64_t scale, sum *s)
{
	if (b->choices == MAX_CHOICES)
		return false;
	b->choices++;
	atom *a = ARENA_NEW(b->a, atom);
	a->kind = ATOM_CHOICE;
	a->x = *x;
	a->y = *y;
	a->when = cond_of(b, when, true);
	a->unless = cond_of(b, when, false);
	b->choices--;
	a->all = span_hull(x->all, y->all);
	return add_atom(b, a, scale, s);
}

static bool accumulate_fn(builder *b, const kexpr *e, int64_t scale, sum *s)
{
	switch (e->fn) {
	case FN_ADD:
		return accumulate(b, e->args[0], scale, s) &&
		       accumulate(b, e->args[1], scale, s);
	case FN_SUB:
		return accumulate(b, e->args[0], scale, s) &&
		       accumulate(b, e->args[1], -scale, s);
	case FN_NEG:
		return accumulate(b, e->args[0], -scale, s);
	case FN_MUL:
		return accumulate_mul(b, e, scale, s);
	case FN_DIV:
	case FN_MOD:
		return accumulate_div(b, e, scale, s);
	case FN_MIN:
	case FN_MAX:
	case FN_ABS:
		return accumulate_extreme(b, e, scale, s);
	default:
		return false;
	}
}

/* s += scale * e */
static bool accumulate(builder *b, const kexpr *e, int64_t scale, sum *s)
{
	int64_t c;
	lin x = { 0 }, y = { 0 };
	if (e->type != DT_I64 || scale < -INDEX_LIMIT || scale > INDEX_LIMIT)
		return false;
	switch (e->kind) {
	case KX_INT:
		return ck_mul(e->i, scale, &c) && ck_add(s->c, c, &s->c);
	case KX_VAR:
		return ck_add(s->coef[e->var], scale, &s->coef[e->var]);
	case KX_FN:
		return accumulate_fn(b, e, scale, s);
	case KX_SELECT:
		return lin_of(b, e->args[1], &x) && lin_of(b, e->args[2], &y) &&
		       accumulate_choice(b, e->args[0], &x, &y, scale, s);
	case KX_CAST:
		if (e->args[0]->type == DT_I64)
			return accumulate(b, e->args[0], scale, s);
		if (e->args[0]->type != DT_BOOL || kx_has_read(e))
			return false;
		x = (lin){ .c = 1, .affine = true, .all = { 1, 1 } };
		y = (lin){ .affine = true };
		return accumulate_choice(b, e->args[0], &x, &y, scale, s);
	case KX_READ:
	case KX_FLOAT:
	case KX_BITCAST:
		break;
	}
	return false;
}

/* ---- compiling conditions ---------------------------------------------- */

static const cond *junction(builder *b, cond_kind kind, int n,
			    const cond *const *of)
{
	cond *c = ARENA_NEW(b->a, cond);
	c->kind = kind;
	c->of = ARENA_ARRAY(b->a, const cond *, n);
	for (int i = 0; i < n; i++)
		if (of[i])
			c->of[c->n++] = of[i];
		else if (kind == COND_ANY)
			return NULL;
	return c->n == 0 ? NULL : c->n == 1 ? c->of[0] : c;
}

/* The condition that x - y is in [lo, hi]; NULL if it implies nothing, or
 * intervals cannot follow it. */
static const cond *between(builder *b, const kexpr *x, const kexpr *y,
			   int64_t lo, int64_t hi)
{
	sum s = { 0 };
	cond *c = ARENA_NEW(b->a, cond);
	if (!accumulate(b, x, 1, &s) || !accumulate(b, y, -1, &s) ||
	    !finish_sum(b, &s, &c->x))
		return NULL;
	span all = c->x.all;
	if (all.lo >= lo && all.hi <= hi)
		return NULL;
	c->to = (span){ lo, hi };
	c->kind = all.hi < lo || all.lo > hi ? COND_NEVER : COND_BETWEEN;
	return c;
}

static const cond *comparison(builder *b, fn f, const kexpr *x, const kexpr *y)
{
	const cond *both[2];
	switch (f) {
	case FN_LT:
		return between(b, x, y, -INDEX_FAR, -1);
	case FN_LE:
		return between(b, x, y, -INDEX_FAR, 0);
	case FN_GT:
		return between(b, x, y, 1, INDEX_FAR);
	case FN_GE:
		return between(b, x, y, 0, INDEX_FAR);
	case FN_EQ:
		return between(b, x, y, 0, 0);
	default:
		both[0] = between(b, x, y, -INDEX_FAR, -1);
		both[1] = between(b, x, y, 1, INDEX_FAR);
		return junction(b, COND_ANY, 2, both);
	}
}

static fn negation(fn f)
{
	static const fn of[] = {
		[FN_LT] = FN_GE, [FN_LE] = FN_GT, [FN_GT] = FN_LE,
		[FN_GE] = FN_LT, [FN_EQ] = FN_NE, [FN_NE] = FN_EQ,
	};
	return of[f];
}

static const cond *cond_of(builder *b, const kexpr *e, bool want)
{
	const cond *both[2];
	if (e->kind == KX_INT) {
		cond *never = ARENA_NEW(b->a, cond);
		never->kind = COND_NEVER;
		return (e->i != 0) == want ? NULL : never;
	}
	if (e->kind != KX_FN)
		return NULL;
	if (fn_is_comparison(e->fn))
		return comparison(b, want ? e->fn : negation(e->fn),
				  e->args[0], e->args[1]);
	switch (e->fn) {
	case FN_NOT:
		return cond_of(b, e->args[0], !want);
	case FN_AND:
	case FN_OR:
		both[0] = cond_of(b, e->args[0], want);
		both[1] = cond_of(b, e->args[1], want);
		return junction(b, (e->fn == FN_AND) == want ? COND_ALL :
				COND_ANY, 2, both);
	default:
		return NULL;
	}
}

bool index_compile(arena *a, const kernel *k, const kexpr *e, lin *x)
{
	builder b = { .a = a, .k = k };
	return lin_of(&b, e, x);
}

const cond *index_cond(arena *a, const kernel *k, const kexpr *e, bool want)
{
	builder b = { .a = a, .k = k };
	return cond_of(&b, e, want);
}

const cond *index_all(arena *a, int n, const cond *const *of)
{
	builder b = { .a = a };
	return junction(&b, COND_ALL, n, of);
}
