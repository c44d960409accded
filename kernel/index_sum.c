/* Sums in normal form, and the intervals of their values. */
#include "config.h"

#include "kernel/index_sum.h"

#include <string.h>

#include "base/checked.h"

/* ---- intervals --------------------------------------------------------- */

static bool expr_span(const simplifier *p, const kexpr *e, span *r);

static bool within_limit(const span *r)
{
	return r->lo >= -INDEX_LIMIT && r->hi <= INDEX_LIMIT;
}

bool index_sum_span(const simplifier *p, const index_sum *s, span *r)
{
	*r = (span){ s->c, s->c };
	if (!within_limit(r))
		return false;
	for (int i = 0; i < s->n; i++) {
		span x, c = { s->t[i].coef, s->t[i].coef };
		if (!expr_span(p, s->t[i].x, &x) || !span_mul(x, c, &x))
			return false;
		r->lo += x.lo;
		r->hi += x.hi;
		if (!within_limit(r))
			return false;
	}
	return true;
}

static bool function_span(const simplifier *p, const kexpr *e, span *r)
{
	span x, y = { 0, 0 };
	if (!expr_span(p, e->args[0], &x) ||
	    (e->nargs > 1 && !expr_span(p, e->args[1], &y)))
		return false;
	bool divides = y.lo == y.hi && y.lo > 0;
	switch (e->fn) {
	case FN_ADD:
		*r = (span){ x.lo + y.lo, x.hi + y.hi };
		return within_limit(r);
	case FN_SUB:
		*r = (span){ x.lo - y.hi, x.hi - y.lo };
		return within_limit(r);
	case FN_NEG:
		*r = (span){ -x.hi, -x.lo };
		return true;
	case FN_MUL:
		return span_mul(x, y, r);
	case FN_MIN:
		*r = span_min(x, y);
		return true;
	case FN_MAX:
		*r = span_max(x, y);
		return true;
	case FN_DIV:
		if (divides)
			*r = span_div(x, y.lo);
		return divides;
	case FN_MOD:
		if (divides)
			*r = span_mod(x, y.lo);
		return divides;
	case FN_ABS:
		*r = span_abs(x);
		return true;
	default:
		return false;
	}
}

/* The range of e over the full extents of the variables; false if an extent is
 * unknown or the range exceeds LIMIT. */
static bool expr_span(const simplifier *p, const kexpr *e, span *r)
{
	span y;
	if (e->type != DT_I64 && e->type != DT_BOOL)
		return false;
	switch (e->kind) {
	case KX_INT:
		*r = (span){ e->i, e->i };
		return within_limit(r);
	case KX_VAR:
		*r = (span){ 0, p->vars[e->var].extent - 1 };
		r->hi = r->hi < 0 ? 0 : r->hi;
		return within_limit(r);
	case KX_FN:
		if (e->type == DT_I64)
			return function_span(p, e, r);
		break;
	case KX_SELECT:
		if (!expr_span(p, e->args[1], r) ||
		    !expr_span(p, e->args[2], &y))
			return false;
		*r = span_hull(*r, y);
		return true;
	default:
		break;
	}
	*r = (span){ 0, 1 };
	return e->type == DT_BOOL;
}

/* ---- sums -------------------------------------------------------------- */

bool index_sum_add_atom(index_sum *s, int64_t coef, kexpr *x)
{
	int i = 0, c = -1;
	while (i < s->n && (c = kx_compare(s->t[i].x, x)) < 0)
		i++;
	if (i < s->n && c == 0) {
		if (!ck_add(s->t[i].coef, coef, &s->t[i].coef))
			return false;
		if (s->t[i].coef == 0) {
			s->n--;
			memmove(&s->t[i], &s->t[i + 1],
				(size_t)(s->n - i) * sizeof(*s->t));
		}
		return true;
	}
	if (coef == 0)
		return true;
	if (s->n == MAX_ATOMS)
		return false;
	memmove(&s->t[i + 1], &s->t[i], (size_t)(s->n - i) * sizeof(*s->t));
	s->t[i] = (index_addend){ coef, x };
	s->n++;
	return true;
}

bool index_sum_add(index_sum *s, int64_t scale, const index_sum *x)
{
	int64_t c;
	if (!ck_mul(scale, x->c, &c) || !ck_add(s->c, c, &s->c))
		return false;
	for (int i = 0; i < x->n; i++)
		if (!ck_mul(scale, x->t[i].coef, &c) ||
		    !index_sum_add_atom(s, c, x->t[i].x))
			return false;
	return true;
}

/* s += scale * e, for an e that is in normal form. */
bool index_sum_add_expr(index_sum *s, int64_t scale, kexpr *e)
{
	int64_t c;
	if (e->kind == KX_INT)
		return ck_mul(scale, e->i, &c) && ck_add(s->c, c, &s->c);
	if (e->kind == KX_FN && e->fn == FN_ADD)
		return index_sum_add_expr(s, scale, e->args[0]) &&
		       index_sum_add_expr(s, scale, e->args[1]);
	if (e->kind == KX_FN && e->fn == FN_SUB)
		return index_sum_add_expr(s, scale, e->args[0]) &&
		       index_sum_add_expr(s, -scale, e->args[1]);
	if (e->kind == KX_FN && e->fn == FN_NEG)
		return index_sum_add_expr(s, -scale, e->args[0]);
	if (e->kind == KX_FN && e->fn == FN_MUL && e->args[0]->kind == KX_INT)
		return ck_mul(scale, e->args[0]->i, &c) &&
		       index_sum_add_expr(s, c, e->args[1]);
	return index_sum_add_atom(s, scale, e);
}

static kexpr *scaled_atom(simplifier *p, int64_t coef, kexpr *x)
{
	if (coef == 1)
		return x;
	return kx_fn2(p->a, FN_MUL, kx_int(p->a, coef, DT_I64), x);
}

/* The expression of a sum: first a term with a positive coefficient if there is
 * one, then the others in order, last the constant. */
kexpr *index_sum_expr(simplifier *p, const index_sum *s)
{
	if (s->n == 0)
		return kx_int(p->a, s->c, DT_I64);
	int first = 0;
	while (first < s->n && s->t[first].coef < 0)
		first++;
	if (first == s->n)
		first = 0;
	kexpr *e = s->t[first].coef == -1 ?
		kx_fn1(p->a, FN_NEG, s->t[first].x) :
		scaled_atom(p, s->t[first].coef, s->t[first].x);
	for (int i = 0; i < s->n; i++) {
		int64_t coef = s->t[i].coef;
		if (i == first)
			continue;
		bool minus = coef < 0 && coef != INT64_MIN;
		e = kx_fn2(p->a, minus ? FN_SUB : FN_ADD, e,
			   scaled_atom(p, minus ? -coef : coef, s->t[i].x));
	}
	if (s->c < 0 && s->c != INT64_MIN)
		e = kx_fn2(p->a, FN_SUB, e, kx_int(p->a, -s->c, DT_I64));
	else if (s->c)
		e = kx_fn2(p->a, FN_ADD, e, kx_int(p->a, s->c, DT_I64));
	return e;
}
