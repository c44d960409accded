/* Divisions and remainders of sums by positive constants: drops multiples of
 * the divisor, lets intervals decide the rest, and joins a quotient and a
 * remainder of the same sum. */
#include "config.h"

#include "base/checked.h"
#include "kernel/index_sum.h"

enum { MAX_ROUNDS = 16 };

/* ---- division and remainder by a positive constant --------------------- */

static bool is_by_constant(const kexpr *e, fn f)
{
	return e->kind == KX_FN && e->fn == f && e->args[1]->kind == KX_INT &&
	       e->args[1]->i > 0;
}

/* Splits s = d * many + few: few has the terms with coefficients that d does
 * not divide, and a constant in [0, d). */
static void split_multiples(const index_sum *s, int64_t d, index_sum *many,
			    index_sum *few)
{
	many->n = few->n = 0;
	many->c = floor_div(s->c, d);
	few->c = floor_mod(s->c, d);
	for (int i = 0; i < s->n; i++) {
		index_addend t = s->t[i];
		if (t.coef % d == 0)
			many->t[many->n++] = (index_addend){ t.coef / d, t.x };
		else
			few->t[few->n++] = t;
	}
}

/* The greatest common divisor of d and all coefficients of s. */
static int64_t common(const index_sum *s, int64_t d)
{
	for (int i = 0; i < s->n; i++)
		d = common_divisor(d, s->t[i].coef);
	return d;
}

/* s / d for a sum of one atom and a constant: (x / b + c) / d is (x + b * c) /
 * (b * d), and (x % (b * d)) / d is (x / d) % b. */
static bool divide_atom(simplifier *p, const index_sum *s, int64_t d,
			index_sum *q, bool *done)
{
	index_sum x = { 0 };
	kexpr *term = s->t[0].x;
	int64_t b, bd;
	*done = s->n == 1 && s->t[0].coef == 1;
	if (*done && is_by_constant(term, FN_DIV)) {
		b = term->args[1]->i;
		return ck_mul(b, d, &bd) && bd < INDEX_LIMIT &&
		       ck_mul(b, s->c, &b) &&
		       index_sum_add_expr(&x, 1, term->args[0]) &&
		       ck_add(x.c, b, &x.c) && index_divide(p, &x, bd, q);
	}
	*done = *done && s->c == 0 && is_by_constant(term, FN_MOD) &&
		term->args[1]->i % d == 0;
	if (!*done)
		return true;
	index_sum inner = { 0 };
	return index_sum_add_expr(&x, 1, term->args[0]) &&
	       index_divide(p, &x, d, &inner) &&
	       index_remain(p, &inner, term->args[1]->i / d, q);
}

/* q = floor(s / d); false if it has no normal form. */
bool index_divide(simplifier *p, const index_sum *s, int64_t d, index_sum *q)
{
	index_sum few;
	span r;
	bool done;
	if (!index_sum_span(p, s, &r))
		return false;
	split_multiples(s, d, q, &few);
	if (!index_sum_span(p, &few, &r))
		return false;
	if (floor_div(r.lo, d) == floor_div(r.hi, d))
		return ck_add(q->c, floor_div(r.lo, d), &q->c);
	int64_t g = common(&few, d);
	for (int i = 0; i < few.n; i++)
		few.t[i].coef /= g;
	few.c /= g;
	d /= g;
	index_sum *rest = ARENA_NEW(p->work, index_sum);
	if (!divide_atom(p, &few, d, rest, &done))
		return false;
	if (done)
		return index_sum_add(q, 1, rest);
	return index_sum_add_atom(q, 1,
				  kx_fn2(p->a, FN_DIV, index_sum_expr(p, &few),
					 kx_int(p->a, d, DT_I64)));
}

/* out += scale * s; terms c * (x % m) such that d divides c * m become c * x,
 * which is equal modulo d. */
static bool drop_inner_mods(simplifier *p, const index_sum *s, int64_t scale,
			    int64_t d, index_sum *out)
{
	int64_t c, m;
	if (!ck_mul(scale, s->c, &c) || !ck_add(out->c, c, &out->c))
		return false;
	for (int i = 0; i < s->n; i++) {
		kexpr *x = s->t[i].x;
		index_sum *inner = ARENA_NEW(p->work, index_sum);
		if (!ck_mul(scale, s->t[i].coef, &c))
			return false;
		bool drop = is_by_constant(x, FN_MOD) &&
			    ck_mul(c, x->args[1]->i, &m) && m % d == 0;
		if (drop ? !index_sum_add_expr(inner, 1, x->args[0]) ||
				!drop_inner_mods(p, inner, c, d, out) :
			   !index_sum_add_atom(out, c, x))
			return false;
	}
	return true;
}

/* m = s % d; false if it has no normal form. */
bool index_remain(simplifier *p, const index_sum *s, int64_t d, index_sum *m)
{
	index_sum many, few, flat = { 0 };
	span r;
	if (!index_sum_span(p, s, &r) || !drop_inner_mods(p, s, 1, d, &flat))
		return false;
	split_multiples(&flat, d, &many, &few);
	for (int i = 0; i < few.n; i++)
		few.t[i].coef %= d;
	if (!index_sum_span(p, &few, &r))
		return false;
	*m = few;
	if (floor_div(r.lo, d) == floor_div(r.hi, d))
		return ck_sub(m->c, d * floor_div(r.lo, d), &m->c);
	int64_t g = common(&few, d);
	for (int i = 0; i < few.n; i++)
		few.t[i].coef /= g;
	*m = (index_sum){ .c = few.c % g };
	few.c /= g;
	return index_sum_add_atom(m, g,
				  kx_fn2(p->a, FN_MOD, index_sum_expr(p, &few),
					 kx_int(p->a, d / g, DT_I64)));
}

/* ---- putting quotient and remainder together --------------------------- */

/* Replaces c * m * (x / m) + c * (x % m) by c * x, if possible for the
 * remainder at i. */
static bool join_at(simplifier *p, index_sum *s, int i)
{
	kexpr *mod = s->t[i].x;
	int64_t c = s->t[i].coef, cm;
	index_sum *x = ARENA_NEW(p->work, index_sum),
		  *q = ARENA_NEW(p->work, index_sum);
	if (!ck_mul(c, mod->args[1]->i, &cm) ||
	    !index_sum_add_expr(x, 1, mod->args[0]) ||
	    !index_divide(p, x, mod->args[1]->i, q) || q->n != 1 || q->c ||
	    q->t[0].coef != 1)
		return false;
	for (int j = 0; j < s->n; j++) {
		if (s->t[j].coef != cm || !kx_equal(s->t[j].x, q->t[0].x))
			continue;
		index_sum out = *s;
		if (!index_sum_add_atom(&out, -c, mod) ||
		    !index_sum_add_atom(&out, -cm, q->t[0].x) ||
		    !index_sum_add(&out, c, x))
			return false;
		*s = out;
		return true;
	}
	return false;
}

/* Replaces c * x - c * d * (x / d) by c * (x % d), if possible for the quotient
 * at i. */
static bool part_at(simplifier *p, index_sum *s, int i)
{
	kexpr *div = s->t[i].x;
	int64_t coef = s->t[i].coef, d = div->args[1]->i;
	index_sum *x = ARENA_NEW(p->work, index_sum),
		  *m = ARENA_NEW(p->work, index_sum);
	if (coef % d || coef == INT64_MIN ||
	    !index_sum_add_expr(x, 1, div->args[0]) ||
	    !index_remain(p, x, d, m))
		return false;
	index_sum out = *s;
	if (!index_sum_add_atom(&out, -coef, div) ||
	    !index_sum_add(&out, coef / d, x) || out.n != s->n - 1 - x->n ||
	    !index_sum_add(&out, -(coef / d), m))
		return false;
	*s = out;
	return true;
}

void index_join_parts(simplifier *p, index_sum *s)
{
	bool changed = true;
	for (int round = 0; changed && round < MAX_ROUNDS; round++) {
		changed = false;
		for (int i = 0; i < s->n && !changed; i++) {
			if (is_by_constant(s->t[i].x, FN_MOD))
				changed = join_at(p, s, i);
			else if (is_by_constant(s->t[i].x, FN_DIV))
				changed = part_at(p, s, i);
		}
	}
}
