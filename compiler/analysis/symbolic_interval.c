/* Intervals of index expressions (Tofu, section 4.2), with polynomials as
 * bounds.  The rules printed in the paper subtract lower from lower bounds for
 * a difference, and do not swap the bounds for a negative factor.  The rules
 * here are sound in both cases. */
#include "config.h"

#include "compiler/analysis/symbolic.h"

typedef struct query {
	poly_space *space;
	const sym_range *ranges;
	int n;
	bool *assumed;
} query;

static const sym_interval nothing = { NULL, NULL };

static sym_interval interval(query *q, const poly *x);

static bool is_fixed(const query *q, const poly *x)
{
	for (int i = 0; i < q->n; i++)
		if (poly_uses(q->space, x, q->ranges[i].atom))
			return false;
	return true;
}

static sym_interval fixed(const poly *x)
{
	return (sym_interval){ x, x };
}

/* ---- signs -------------------------------------------------------------- */

static bool nonneg(query *q, const poly *x)
{
	return poly_nonneg(q->space, NULL, x);
}

/* Whether x >= 0 under the assumption that every attribute in it is >= 0. */
static bool assume_nonneg(query *q, const poly *x)
{
	if (!q->assumed || !x)
		return false;
	for (int i = 0; i < x->n; i++) {
		const term *t = &x->terms[i];
		if (t->coefficient < 0)
			return false;
		for (int j = 0; j < t->n; j++)
			if (q->space->atoms[t->atom[j]].kind != ATOM_ATTR &&
			    !nonneg(q, poly_of(q->space->arena, t->atom[j])))
				return false;
	}
	for (int i = 0; i < x->n; i++) {
		const term *t = &x->terms[i];
		for (int j = 0; j < t->n; j++) {
			const poly_atom *a = &q->space->atoms[t->atom[j]];
			if (a->kind == ATOM_ATTR && a->min < 0)
				q->assumed[t->atom[j]] = true;
		}
	}
	return true;
}

/* 1 for a number known to be >= 0, -1 for <= 0, 0 if unknown. */
static int sign_of(query *q, const poly *x)
{
	const poly *minus = poly_scale(q->space->arena, x, -1);
	return nonneg(q, x)	       ? 1
	       : nonneg(q, minus)	       ? -1
	       : assume_nonneg(q, x)     ? 1
	       : assume_nonneg(q, minus) ? -1
					 : 0;
}

/* ---- transfer functions ------------------------------------------------- */

static sym_interval add(query *q, sym_interval x, sym_interval y)
{
	arena *a = q->space->arena;
	return (sym_interval){ poly_add(a, x.lo, y.lo),
			       poly_add(a, x.hi, y.hi) };
}

static sym_interval scale(query *q, sym_interval x, const poly *by)
{
	arena *a = q->space->arena;
	int sign = sign_of(q, by);
	if (sign == 0)
		return nothing;
	sym_interval r = { poly_mul(a, x.lo, by), poly_mul(a, x.hi, by) };
	return sign > 0 ? r : (sym_interval){ r.hi, r.lo };
}

/* The product of two intervals that both vary.  Only numbers >= 0 are
 * handled. */
static sym_interval multiply(query *q, sym_interval x, sym_interval y)
{
	arena *a = q->space->arena;
	if (!nonneg(q, x.lo) || !nonneg(q, y.lo))
		return nothing;
	return (sym_interval){ poly_mul(a, x.lo, y.lo),
			       poly_mul(a, x.hi, y.hi) };
}

static sym_interval divided(query *q, const poly_atom *t)
{
	if (!is_fixed(q, t->y))
		return nothing;
	sym_interval x = interval(q, t->x);
	return (sym_interval){ poly_div(q->space, x.lo, t->y),
			       poly_div(q->space, x.hi, t->y) };
}

/* The remainder: exact within one period, otherwise the full range. */
static sym_interval remainder_of(query *q, const poly_atom *t)
{
	arena *a = q->space->arena;
	const poly *last = poly_shift(a, t->y, -1);
	sym_interval period = { poly_int(a, 0), last };
	if (!is_fixed(q, t->y))
		return (sym_interval){ period.lo, interval(q, last).hi };
	sym_interval x = interval(q, t->x);
	if (nonneg(q, x.lo) && nonneg(q, poly_sub(a, last, x.hi)))
		return x;
	return period;
}

static sym_interval atom_interval(query *q, int atom)
{
	for (int i = 0; i < q->n; i++)
		if (q->ranges[i].atom == atom)
			return q->ranges[i].in;
	const poly_atom t = q->space->atoms[atom];
	const poly *self = poly_of(q->space->arena, atom);
	if (!t.x || (is_fixed(q, t.x) && is_fixed(q, t.y)))
		return fixed(self);
	if (t.kind == ATOM_DIV)
		return divided(q, &t);
	if (t.kind == ATOM_MOD)
		return remainder_of(q, &t);
	sym_interval x = interval(q, t.x), y = interval(q, t.y);
	if (t.kind == ATOM_MIN)
		return (sym_interval){ poly_min(q->space, x.lo, y.lo),
				       poly_min(q->space, x.hi, y.hi) };
	return (sym_interval){ poly_max(q->space, x.lo, y.lo),
			       poly_max(q->space, x.hi, y.hi) };
}

static sym_interval term_interval(query *q, const term *t)
{
	arena *a = q->space->arena;
	const poly *factor = poly_int(a, t->coefficient);
	sym_interval varying = fixed(NULL);
	bool any = false;
	for (int i = 0; i < t->n; i++) {
		const poly *atom = poly_of(a, t->atom[i]);
		if (is_fixed(q, atom)) {
			factor = poly_mul(a, factor, atom);
			continue;
		}
		sym_interval v = atom_interval(q, t->atom[i]);
		varying = any ? multiply(q, varying, v) : v;
		any = true;
	}
	return any ? scale(q, varying, factor) : fixed(factor);
}

static sym_interval interval(query *q, const poly *x)
{
	if (!x)
		return nothing;
	arena *a = q->space->arena;
	sym_interval sum = fixed(poly_int(a, 0));
	/* Terms with a common varying factor are added first, so that the sign
	 * of (2 - s) * i follows from that of 2 - s. */
	for (int i = 0; i < q->n; i++) {
		const poly *c, *rest;
		if (!poly_split(q->space, a, x, q->ranges[i].atom, &c,
				&rest) ||
		    poly_is_zero(c) || !is_fixed(q, c))
			continue;
		sum = add(q, sum, scale(q, q->ranges[i].in, c));
		x = rest;
	}
	for (int i = 0; i < x->n; i++)
		sum = add(q, sum, term_interval(q, &x->terms[i]));
	return sum;
}

sym_interval symbolic_interval(poly_space *s, const poly *x,
			       const sym_range *ranges, int n, bool *assumed)
{
	query q = { s, ranges, n, assumed };
	return interval(&q, x);
}
