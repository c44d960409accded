#include "config.h"

#include "kernel/index_interval.h"

#include "base/checked.h"

enum { NARROW_ROUNDS = 8 };

/* ---- intervals --------------------------------------------------------- */

span span_div(span x, int64_t d)
{
	return (span){ floor_div(x.lo, d), floor_div(x.hi, d) };
}

span span_mod(span x, int64_t d)
{
	if (floor_div(x.lo, d) != floor_div(x.hi, d))
		return (span){ 0, d - 1 };
	return (span){ floor_mod(x.lo, d), floor_mod(x.hi, d) };
}

span span_min(span x, span y)
{
	return (span){ min_i64(x.lo, y.lo), min_i64(x.hi, y.hi) };
}

span span_max(span x, span y)
{
	return (span){ max_i64(x.lo, y.lo), max_i64(x.hi, y.hi) };
}

span span_abs(span x)
{
	if (x.lo >= 0)
		return x;
	if (x.hi <= 0)
		return (span){ -x.hi, -x.lo };
	return (span){ 0, max_i64(-x.lo, x.hi) };
}

/* x and y are below INDEX_LIMIT; false if the product is not. */
bool span_mul(span x, span y, span *r)
{
	int64_t p[4];
	if (!ck_mul(x.lo, y.lo, &p[0]) || !ck_mul(x.lo, y.hi, &p[1]) ||
	    !ck_mul(x.hi, y.lo, &p[2]) || !ck_mul(x.hi, y.hi, &p[3]))
		return false;
	*r = (span){ p[0], p[0] };
	for (int i = 1; i < 4; i++) {
		r->lo = min_i64(r->lo, p[i]);
		r->hi = max_i64(r->hi, p[i]);
	}
	return r->lo >= -INDEX_LIMIT && r->hi <= INDEX_LIMIT;
}

span span_unscale(int64_t coef, span x)
{
	if (coef < 0) {
		coef = -coef;
		x = (span){ -x.hi, -x.lo };
	}
	return (span){ -floor_div(-x.lo, coef), floor_div(x.hi, coef) };
}

span span_hull(span x, span y)
{
	return (span){ min_i64(x.lo, y.lo), max_i64(x.hi, y.hi) };
}

/* The interval of one branch over the part of b where it is taken; false if
 * there is none. */
static bool branch_span(const lin *x, const cond *when, const box *b, span *r)
{
	if (!when) {
		*r = index_span(x, b);
		return true;
	}
	box part;
	box_copy(&part, b);
	if (!index_narrow(when, &part))
		return false;
	*r = index_span(x, &part);
	return true;
}

static span choice_span(const atom *a, const box *b)
{
	span x, y;
	bool has_x = branch_span(&a->x, a->when, b, &x);
	bool has_y = branch_span(&a->y, a->unless, b, &y);
	if (has_x && has_y)
		return span_hull(x, y);
	return has_x ? x : has_y ? y : a->all;
}

static span atom_span(const atom *a, const box *b)
{
	span r = { 0, 0 };
	if (a->kind == ATOM_CHOICE)
		return choice_span(a, b);
	span x = index_span(&a->x, b);
	switch (a->kind) {
	case ATOM_DIV:
		return span_div(x, a->d);
	case ATOM_MOD:
		return span_mod(x, a->d);
	case ATOM_ABS:
		return span_abs(x);
	default:
		break;
	}
	span y = index_span(&a->y, b);
	switch (a->kind) {
	case ATOM_MIN:
		return span_min(x, y);
	case ATOM_MAX:
		return span_max(x, y);
	default:
		span_mul(x, y, &r);
		return r;
	}
}

static inline span term_span(const index_term *t, const box *b)
{
	if (t->atom)
		return atom_span(t->atom, b);
	return (span){ b->lo[t->var], b->hi[t->var] - 1 };
}

static inline span scaled(int64_t coef, span x)
{
	if (coef < 0)
		return (span){ coef * x.hi, coef * x.lo };
	return (span){ coef * x.lo, coef * x.hi };
}

span index_span(const lin *x, const box *b)
{
	span r = { x->c, x->c };
	for (int i = 0; i < x->n; i++) {
		span s = scaled(x->t[i].coef, term_span(&x->t[i], b));
		r.lo += s.lo;
		r.hi += s.hi;
	}
	return r;
}

/* ---- narrowing a box --------------------------------------------------- */

static bool narrow_lin(const lin *x, span to, box *b);

/* Narrows b for x % d in [to.lo, to.hi], which is within [0, d). */
static bool narrow_mod(const atom *a, span to, box *b)
{
	span x = index_span(&a->x, b);
	int64_t p = floor_div(x.lo, a->d);
	if (to.lo == to.hi) {
		x.lo += floor_mod(to.lo - x.lo, a->d);
		x.hi -= floor_mod(x.hi - to.hi, a->d);
		return narrow_lin(&a->x, x, b);
	}
	if (p != floor_div(x.hi, a->d))
		return true;
	return narrow_lin(&a->x, (span){ p * a->d + to.lo, p * a->d + to.hi },
			  b);
}

/* Narrows b for max(x, y) in `to': both are at most to.hi, and if one cannot
 * reach to.lo the other does. */
static bool narrow_max(const atom *a, span to, box *b)
{
	bool x_low = index_span(&a->x, b).hi < to.lo;
	bool y_low = index_span(&a->y, b).hi < to.lo;
	span x = { y_low ? to.lo : -INDEX_FAR, to.hi };
	span y = { x_low ? to.lo : -INDEX_FAR, to.hi };
	return narrow_lin(&a->x, x, b) && narrow_lin(&a->y, y, b);
}

static bool narrow_min(const atom *a, span to, box *b)
{
	bool x_high = index_span(&a->x, b).lo > to.hi;
	bool y_high = index_span(&a->y, b).lo > to.hi;
	span x = { to.lo, y_high ? to.hi : INDEX_FAR };
	span y = { to.lo, x_high ? to.hi : INDEX_FAR };
	return narrow_lin(&a->x, x, b) && narrow_lin(&a->y, y, b);
}

/* Narrows b for the atom's value in `to', which is within the atom's
 * interval. */
static bool narrow_atom(const atom *a, span to, box *b)
{
	switch (a->kind) {
	case ATOM_DIV:
		to = (span){ to.lo * a->d, to.hi * a->d + (a->d - 1) };
		return narrow_lin(&a->x, to, b);
	case ATOM_MOD:
		return narrow_mod(a, to, b);
	case ATOM_MIN:
		return narrow_min(a, to, b);
	case ATOM_MAX:
		return narrow_max(a, to, b);
	case ATOM_ABS:
		return narrow_lin(&a->x, (span){ -to.hi, to.hi }, b);
	case ATOM_MUL:
	case ATOM_CHOICE:
		break;
	}
	return true;
}

/* Narrows b to a box around its points where x is in `to'; false if there are
 * none. */
static bool narrow_lin(const lin *x, span to, box *b)
{
	span sum = index_span(x, b);
	if (sum.hi < to.lo || sum.lo > to.hi)
		return false;
	if (sum.lo >= to.lo && sum.hi <= to.hi)
		return true;
	for (int i = 0; i < x->n; i++) {
		const index_term *t = &x->t[i];
		span own = term_span(t, b);
		span part = scaled(t->coef, own);
		span v = span_unscale(t->coef,
				      (span){ to.lo - (sum.hi - part.hi),
					      to.hi - (sum.lo - part.lo) });
		if (v.lo <= own.lo && v.hi >= own.hi)
			continue;
		v = (span){ max_i64(v.lo, own.lo), min_i64(v.hi, own.hi) };
		if (v.lo > v.hi)
			return false;
		if (t->atom) {
			if (!narrow_atom(t->atom, v, b))
				return false;
		} else {
			b->lo[t->var] = v.lo;
			b->hi[t->var] = v.hi + 1;
		}
		sum = index_span(x, b);
	}
	return true;
}

static bool narrow_once(const cond *c, box *b);

static bool narrow_any(const cond *c, box *b)
{
	box all, part;
	bool some = false;
	all.n = b->n;
	for (int i = 0; i < c->n; i++) {
		box_copy(&part, b);
		if (!narrow_once(c->of[i], &part))
			continue;
		for (int v = 0; v < b->n; v++) {
			all.lo[v] = some ? min_i64(all.lo[v], part.lo[v]) :
					   part.lo[v];
			all.hi[v] = some ? max_i64(all.hi[v], part.hi[v]) :
					   part.hi[v];
		}
		some = true;
	}
	if (some)
		box_copy(b, &all);
	return some;
}

static bool narrow_once(const cond *c, box *b)
{
	switch (c->kind) {
	case COND_BETWEEN:
		return narrow_lin(&c->x, c->to, b);
	case COND_ALL:
		for (int i = 0; i < c->n; i++)
			if (!narrow_once(c->of[i], b))
				return false;
		return true;
	case COND_ANY:
		return narrow_any(c, b);
	case COND_NEVER:
		break;
	}
	return false;
}

bool index_narrow(const cond *c, box *b)
{
	box before;
	for (int round = 0; round < NARROW_ROUNDS; round++) {
		box_copy(&before, b);
		if (!narrow_once(c, b))
			return false;
		if (box_equal(&before, b))
			break;
	}
	return true;
}
