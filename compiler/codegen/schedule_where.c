/* Reductions under a condition:
 *
 *	out[i, j] = Sum(k) if at[k] == i then u[k, j] else 0
 *	out[i] = Sum(j) if j <= i then x[j] else 0
 *
 * As written they look at all terms for each element of the result.  If the
 * condition tells to which elements a term belongs, this is not necessary.  The
 * first example is a scatter: each term is added where it belongs.  The second
 * one is a scan: each element is the one before it and a few more terms. */
#include "config.h"

#include "compiler/codegen/schedule.h"

#include <math.h>

#include "plan/plan.h"

/* ---- the condition ----------------------------------------------------- */

/* The least or greatest value of an integer type, as KX_INT holds it. */
static int64_t limit(dtype t, bool largest)
{
	int bits = dtype_bits(t);
	if (!dtype_is_signed(t))
		return !largest ? 0
		       : bits == 64 ? -1
				    : (int64_t)(((uint64_t)1 << bits) - 1);
	int64_t most = INT64_MAX >> (64 - bits);
	return largest ? most : -most - 1;
}

bool adds_nothing(reducer r, const kexpr *e)
{
	bool is_float = e->kind == KX_FLOAT;
	if (!is_float && e->kind != KX_INT)
		return false;
	if (r == RED_NONE || reducer_is_where(r))
		return false;
	switch (reducer_table[r].neutral) {
	case NEUTRAL_ZERO:
		return is_float ? e->f == 0 : e->i == 0;
	case NEUTRAL_ONE:
		return is_float ? e->f == 1 : e->i == 1;
	case NEUTRAL_LEAST:
		return is_float ? e->f == -INFINITY
				: e->i == limit(e->type, false);
	case NEUTRAL_GREATEST:
		return is_float ? e->f == INFINITY
				: e->i == limit(e->type, true);
	}
	return false;
}

/* Whether a term e changes nothing when combined with any other term. */
static bool is_absorbed(const nest *n, reducer r, const kexpr *e,
			const kexpr *other)
{
	int64_t lo, hi;
	linear x = linear_of(n, other);
	if (e->kind != KX_INT || !linear_range(n, &x, &lo, &hi))
		return false;
	return r == RED_MAX ? e->i <= lo : r == RED_MIN && hi <= e->i;
}

/* Matches a body of the form: if condition then term, else a value that adds
 * nothing. */
static bool find_term(schedule *s, const kernel *k)
{
	const kexpr *e = k->body;
	if (e->kind != KX_SELECT)
		return false;
	s->term = e->args[1];
	s->otherwise = adds_nothing(k->reducer, e->args[2]) ? NULL : e->args[2];
	return !s->otherwise ||
	       is_absorbed(&s->nest, k->reducer, e->args[2], s->term);
}

/* Whether an index in e depends on data, so that it may be at fault. */
static bool has_data_index(const kexpr *e)
{
	for (int d = 0; e->kind == KX_READ && d < kx_ndim(e); d++)
		if (kx_has_read(e->args[d]))
			return true;
	for (int i = 0; i < e->nargs; i++)
		if (has_data_index(e->args[i]))
			return true;
	return false;
}

/* ---- scatters ---------------------------------------------------------- */

/* Whether terms can be added to elements in memory, rounding each time. */
static bool adds_in_memory(const kernel *k)
{
	dtype t = k->body->type;
	if (reducer_is_logic(k->reducer))
		return k->type == DT_BOOL && t == DT_BOOL;
	return k->type == t && t != DT_BOOL &&
	       ((dtype_is_int(t) && dtype_bits(t) >= 8) || t == DT_F32 ||
		t == DT_F64);
}

bool any_in_place(const kernel *k)
{
	for (int i = 0; i < k->ninputs; i++)
		if (kernel_in_place(k, i))
			return true;
	return false;
}

/* e without conversions that do not change an index. */
static const kexpr *unconverted(const nest *n, const kexpr *e)
{
	int64_t lo, hi;
	if (e->kind != KX_CAST || !dtype_is_int(e->type) ||
	    e->args[0]->type != DT_I64)
		return e;
	linear x = linear_of(n, e->args[0]);
	if (!x.affine || !linear_range(n, &x, &lo, &hi) ||
	    lo < limit(e->type, false))
		return e;
	return e->type == DT_U64 || hi <= limit(e->type, true) ? e->args[0] : e;
}

/* Solves x == y for a loop of x on which nothing earlier depends. */
static bool solve(const schedule *s, const kexpr *x, const kexpr *y, where *w)
{
	const nest *n = &s->nest;
	int64_t lo, hi;
	loop_set used = s->around | s->given | loops_of(n, y);
	linear rest = linear_of(n, unconverted(n, x));
	if (!rest.affine || !linear_range(n, &rest, &lo, &hi))
		return false;
	for (int l = 0; l < n->n; l++) {
		int64_t c = rest.coef[l];
		if ((c != 1 && c != -1) || n->loops[l].part != LOOP_WHOLE ||
		    used & loop_bit(l))
			continue;
		rest.coef[l] = 0;
		*w = (where){.e = y, .loop = l, .sign = (int)c, .rest = rest};
		return true;
	}
	return false;
}

static loop_set loops_of_linear(const nest *n, const linear *x)
{
	loop_set s = 0;
	for (int l = 0; l < n->n; l++)
		if (x->coef[l])
			s |= loop_bit(l);
	return s;
}

/* Adds the conditions of which e consists, in order of evaluation. */
static bool add_wheres(schedule *s, const kexpr *e)
{
	if (e->kind == KX_FN && e->fn == FN_AND && e->type == DT_BOOL)
		return add_wheres(s, e->args[0]) && add_wheres(s, e->args[1]);
	if (s->nwheres == MAX_WHERES)
		return false;
	where *w = &s->wheres[s->nwheres++];
	if (e->kind == KX_FN && e->fn == FN_EQ &&
	    dtype_is_int(e->args[0]->type) &&
	    (solve(s, e->args[0], e->args[1], w) ||
	     solve(s, e->args[1], e->args[0], w))) {
		s->around |= loops_of(&s->nest, w->e) |
			     loops_of_linear(&s->nest, &w->rest);
		s->given |= loop_bit(w->loop);
	} else {
		*w = (where){.e = e, .loop = -1};
		s->around |= loops_of(&s->nest, e);
	}
	return true;
}

/* Chooses the loops around the conditions.  With a loop come the loop of which
 * it is a remainder, and the reductions outside of it, so that terms are added
 * in order.  Returns false if a loop is needed that is given only later, or if
 * the remaining terms are not in the order of the reduction. */
static bool choose_around(schedule *s)
{
	const nest *n = &s->nest;
	loop_set given = 0, reduced = 0;
	for (int i = 0; i < s->nwheres; i++) {
		const where *w = &s->wheres[i];
		loop_set needs = loops_of(n, w->e);
		if (w->loop >= 0)
			needs |= loops_of_linear(n, &w->rest);
		if (needs & s->given & ~given)
			return false;
		if (w->loop >= 0)
			given |= loop_bit(w->loop);
	}
	for (int l = 0; l < n->n; l++)
		if (n->loops[l].reduced && !(s->given & loop_bit(l)))
			reduced |= loop_bit(l);
	for (int l = 0; l < n->n; l++)
		if (s->given & loop_bit(l) && n->loops[l].reduced &&
		    set_last(reduced) > l)
			return false;
	s->around &= ~s->given;
	for (int l = n->n - 1; l >= 0; l--) {
		if (!(s->around & loop_bit(l)))
			continue;
		if (n->loops[l].part == LOOP_REMAINDER)
			s->around |= loop_bit(l - 1);
		if (n->loops[l].reduced)
			s->around |= reduced & (loop_bit(l) - 1);
	}
	return true;
}

/* The variables of the loops that conditions give. */
static uint32_t given_vars(const schedule *s)
{
	uint32_t vars = 0;
	for (int l = 0; l < s->nest.n; l++)
		if (s->given & loop_bit(l))
			vars |= (uint32_t)1 << s->nest.loops[l].var;
	return vars;
}

static bool find_scatter(schedule *s, const kernel *k, uint32_t whole)
{
	*s = (schedule){.kind = SCHEDULE_SCATTER,
			.nest = nest_of(k, whole),
			.across = -1};
	return find_term(s, k) && add_wheres(s, k->body->args[0]) &&
	       s->given && choose_around(s);
}

bool as_scatter(schedule *s, const kernel *k)
{
	if (k->reducer == RED_NONE || k->body->kind != KX_SELECT ||
	    !adds_in_memory(k) || any_in_place(k) ||
	    has_data_index(k->body->args[0]))
		return false;
	/* A variable that a condition determines is not divided; others may
	 * be. */
	if (!find_scatter(s, k, ~(uint32_t)0) ||
	    !find_scatter(s, k, given_vars(s)))
		return false;
	loop_set inside = all_loops(&s->nest) & ~s->around & ~s->given;
	loop_set out = output_loops(&s->nest) & inside;
	s->inner = set_last(out ? out : inside);
	return true;
}

/* ---- scans ------------------------------------------------------------- */

/* Whether x is step - along + c, or its negative (*negated). */
static bool is_difference(schedule *s, linear x, bool *negated)
{
	const nest *n = &s->nest;
	s->along = s->step = -1;
	for (int l = 0; l < n->n; l++) {
		int *to = n->loops[l].reduced ? &s->step : &s->along;
		if (!x.coef[l])
			continue;
		if (*to >= 0 || n->loops[l].part != LOOP_WHOLE ||
		    (x.coef[l] != 1 && x.coef[l] != -1))
			return false;
		*to = l;
	}
	if (s->along < 0 || s->step < 0 ||
	    x.coef[s->along] == x.coef[s->step])
		return false;
	*negated = x.coef[s->step] < 0;
	s->shift = *negated ? x.c : -x.c;
	return true;
}

/* Matches a condition step <= along + shift, or a similar one. */
static bool find_shift(schedule *s, const kexpr *c)
{
	bool negated, strict;
	int64_t lo, hi;
	if (c->kind != KX_FN || (c->fn != FN_LE && c->fn != FN_LT &&
				 c->fn != FN_GE && c->fn != FN_GT))
		return false;
	linear x = linear_of(&s->nest, c->args[0]);
	linear y = linear_of(&s->nest, c->args[1]);
	if (!x.affine || !y.affine || !linear_range(&s->nest, &x, &lo, &hi) ||
	    !linear_range(&s->nest, &y, &lo, &hi))
		return false;
	x = linear_minus(&s->nest, x, y);
	if (!x.affine || !linear_range(&s->nest, &x, &lo, &hi) ||
	    !is_difference(s, x, &negated))
		return false;
	strict = c->fn == FN_LT || c->fn == FN_GT;
	s->down = (c->fn == FN_GE || c->fn == FN_GT) != negated;
	s->shift += !strict ? 0 : s->down ? 1 : -1;
	return true;
}

bool as_scan(schedule *s, const kernel *k)
{
	*s = (schedule){.kind = SCHEDULE_SCAN,
			.nest = nest_of(k, 0),
			.across = -1};
	if (k->reducer == RED_NONE || !find_term(s, k) ||
	    !find_shift(s, k->body->args[0]) ||
	    loops_of(&s->nest, s->term) & loop_bit(s->along))
		return false;
	loop_set out = output_loops(&s->nest);
	s->inner = set_last(out);
	if (s->inner == s->along)
		s->inner = -1;
	/* Terms have to be added in the order of the reduction. */
	return set_first(all_loops(&s->nest) & ~out) == s->step;
}
