#include "config.h"

#include "compiler/analysis/poly.h"

#include <string.h>

#include "base/checked.h"
#include "base/vec.h"

/* ---- atoms -------------------------------------------------------------- */

poly_space *poly_space_new(arena *a)
{
	poly_space *s = ARENA_NEW(a, poly_space);
	s->arena = a;
	return s;
}

static int add_atom(poly_space *s, poly_atom atom)
{
	if (s->natoms == POLY_MAX_ATOMS)
		return -1;
	if (s->natoms == s->cap)
		s->atoms = vec_grow(s->arena, s->atoms, &s->cap,
				    sizeof(*s->atoms));
	s->atoms[s->natoms] = atom;
	return s->natoms++;
}

int poly_new_atom(poly_space *s, atom_kind kind, const char *name,
		  int64_t min)
{
	return add_atom(s, (poly_atom){ .kind = kind, .name = name,
					.weight = 1, .min = min });
}

static int weight(const poly_space *s, const poly *x)
{
	int sum = 0;
	for (int i = 0; i < x->n && sum <= POLY_MAX_WEIGHT; i++)
		for (int j = 0; j < x->terms[i].n; j++)
			sum += s->atoms[x->terms[i].atom[j]].weight;
	return sum;
}

/* The atom kind(x, y); added if it does not exist yet. */
static const poly *compound(poly_space *s, atom_kind kind, const poly *x,
			    const poly *y)
{
	for (int i = 0; i < s->natoms; i++) {
		const poly_atom *t = &s->atoms[i];
		if (t->kind == kind && t->x && poly_equal(t->x, x) &&
		    poly_equal(t->y, y))
			return poly_of(s->arena, i);
	}
	poly_atom t = { .kind = kind, .x = x, .y = y, .min = POLY_NO_MIN,
			.weight = weight(s, x) + weight(s, y) };
	return t.weight > POLY_MAX_WEIGHT ? NULL
					  : poly_of(s->arena, add_atom(s, t));
}

/* ---- sums --------------------------------------------------------------- */

/* Order by atoms, the constant last, so that texts show atoms in the order of
 * declaration. */
static int compare_monomials(const term *x, const term *y)
{
	for (int i = 0; i < x->n && i < y->n; i++)
		if (x->atom[i] != y->atom[i])
			return x->atom[i] < y->atom[i] ? -1 : 1;
	return (x->n < y->n) - (x->n > y->n);
}

const poly *poly_int(arena *a, int64_t i)
{
	poly *p = ARENA_NEW(a, poly);
	p->n = i != 0;
	p->terms = ARENA_ARRAY(a, term, 1);
	p->terms[0].coefficient = i;
	return p;
}

const poly *poly_of(arena *a, int atom)
{
	if (atom < 0)
		return NULL;
	poly *p = ARENA_NEW(a, poly);
	p->n = 1;
	p->terms = ARENA_ARRAY(a, term, 1);
	p->terms[0] = (term){ .coefficient = 1, .n = 1, .atom = { atom } };
	return p;
}

/* x + by * y */
static const poly *combine(arena *a, const poly *x, const poly *y, int64_t by)
{
	if (!x || !y || x->n + y->n > 2 * POLY_MAX_TERMS)
		return NULL;
	poly *p = ARENA_NEW(a, poly);
	p->terms = ARENA_ARRAY(a, term, x->n + y->n);
	for (int i = 0, j = 0; i < x->n || j < y->n;) {
		int order = i == x->n	? 1
			    : j == y->n ? -1
					: compare_monomials(&x->terms[i],
							    &y->terms[j]);
		int64_t scaled = 0, sum = 0;
		if (order >= 0 &&
		    !ck_mul(y->terms[j].coefficient, by, &scaled))
			return NULL;
		if (order <= 0)
			sum = x->terms[i].coefficient;
		if (!ck_add(sum, scaled, &sum))
			return NULL;
		p->terms[p->n] = order <= 0 ? x->terms[i] : y->terms[j];
		p->terms[p->n].coefficient = sum;
		p->n += sum != 0;
		i += order <= 0;
		j += order >= 0;
	}
	return p->n > POLY_MAX_TERMS ? NULL : p;
}

const poly *poly_add(arena *a, const poly *x, const poly *y)
{
	return combine(a, x, y, 1);
}

const poly *poly_sub(arena *a, const poly *x, const poly *y)
{
	return combine(a, x, y, -1);
}

const poly *poly_scale(arena *a, const poly *x, int64_t by)
{
	return combine(a, poly_int(a, 0), x, by);
}

const poly *poly_shift(arena *a, const poly *x, int64_t i)
{
	return combine(a, x, poly_int(a, i), 1);
}

/* ---- products ----------------------------------------------------------- */

static bool multiply_terms(const term *x, const term *y, term *r)
{
	if (x->n + y->n > POLY_MAX_DEGREE ||
	    !ck_mul(x->coefficient, y->coefficient, &r->coefficient))
		return false;
	r->n = 0;
	for (int i = 0, j = 0; i < x->n || j < y->n;)
		r->atom[r->n++] = j == y->n ||
						  (i < x->n &&
						   x->atom[i] <= y->atom[j])
					  ? x->atom[i++]
					  : y->atom[j++];
	return true;
}

const poly *poly_mul(arena *a, const poly *x, const poly *y)
{
	if (!x || !y)
		return NULL;
	const poly *sum = poly_int(a, 0);
	for (int i = 0; i < x->n; i++) {
		/* Multiplication by a monomial may change the order of terms,
		 * so the terms are added one by one. */
		for (int j = 0; j < y->n; j++) {
			term t;
			if (!multiply_terms(&x->terms[i], &y->terms[j], &t))
				return NULL;
			sum = combine(a, sum, &(poly){ 1, &t }, 1);
			if (!sum)
				return NULL;
		}
	}
	return sum;
}

/* Divides monomial x by y.  Returns false if y does not divide x. */
static bool divide_terms(const term *x, const term *y, term *r)
{
	if (x->coefficient % y->coefficient)
		return false;
	r->coefficient = x->coefficient / y->coefficient;
	r->n = 0;
	int j = 0;
	for (int i = 0; i < x->n; i++) {
		if (j < y->n && x->atom[i] == y->atom[j])
			j++;
		else
			r->atom[r->n++] = x->atom[i];
	}
	return j == y->n;
}

/* Division with x = y * *q + *r.  y is a monomial; *q takes all terms of x that
 * it divides. */
static void divide(arena *a, const poly *x, const poly *y, const poly **q,
		   const poly **r)
{
	poly *quotient = ARENA_NEW(a, poly), *rest = ARENA_NEW(a, poly);
	quotient->terms = ARENA_ARRAY(a, term, x->n);
	rest->terms = ARENA_ARRAY(a, term, x->n);
	*q = poly_int(a, 0);
	for (int i = 0; i < x->n; i++) {
		term t;
		if (y->n == 1 && divide_terms(&x->terms[i], y->terms, &t))
			*q = combine(a, *q, &(poly){ 1, &t }, 1);
		else
			rest->terms[rest->n++] = x->terms[i];
	}
	*r = rest;
}

/* Notes that an attribute or size is positive because something is divided by
 * it. */
static void note_divisor(poly_space *s, const poly *y)
{
	if (y->n != 1 || y->terms[0].n != 1 || y->terms[0].coefficient != 1)
		return;
	poly_atom *t = &s->atoms[y->terms[0].atom[0]];
	if ((t->kind == ATOM_ATTR || t->kind == ATOM_SIZE) && t->min < 1)
		t->min = 1;
}

const poly *poly_div(poly_space *s, const poly *x, const poly *y)
{
	int64_t n, d;
	const poly *q, *r;
	if (!x || !y || (poly_is_constant(y, &d) && d <= 0))
		return NULL;
	if (poly_equal(x, y))
		return poly_int(s->arena, 1);
	divide(s->arena, x, y, &q, &r);
	if (poly_is_zero(r))
		return q;
	if (poly_is_constant(r, &n) && poly_is_constant(y, &d))
		return poly_shift(s->arena, q, floor_div(n, d));
	note_divisor(s, y);
	return poly_add(s->arena, q, compound(s, ATOM_DIV, r, y));
}

const poly *poly_mod(poly_space *s, const poly *x, const poly *y)
{
	int64_t n, d;
	const poly *q, *r;
	if (!x || !y || (poly_is_constant(y, &d) && d <= 0))
		return NULL;
	if (poly_equal(x, y))
		return poly_int(s->arena, 0);
	divide(s->arena, x, y, &q, &r);
	if (poly_is_zero(r))
		return r;
	if (poly_is_constant(r, &n) && poly_is_constant(y, &d))
		return poly_int(s->arena, floor_mod(n, d));
	note_divisor(s, y);
	return compound(s, ATOM_MOD, r, y);
}

/* min or max of x and y: one of them if the sign of their difference is known,
 * otherwise an atom. */
static const poly *extreme(poly_space *s, atom_kind kind, const poly *x,
			   const poly *y)
{
	if (!x || !y)
		return NULL;
	arena *tmp = arena_new();
	bool above = poly_nonneg(s, NULL, poly_sub(tmp, x, y));
	bool below = !above && poly_nonneg(s, NULL, poly_sub(tmp, y, x));
	arena_free(tmp);
	if (above || below)
		return above == (kind == ATOM_MAX) ? x : y;
	return compound(s, kind, x, y);
}

const poly *poly_min(poly_space *s, const poly *x, const poly *y)
{
	return extreme(s, ATOM_MIN, x, y);
}

const poly *poly_max(poly_space *s, const poly *x, const poly *y)
{
	return extreme(s, ATOM_MAX, x, y);
}

/* ---- questions ---------------------------------------------------------- */

bool poly_equal(const poly *x, const poly *y)
{
	if (!x || !y || x->n != y->n)
		return false;
	for (int i = 0; i < x->n; i++)
		if (x->terms[i].coefficient != y->terms[i].coefficient ||
		    compare_monomials(&x->terms[i], &y->terms[i]))
			return false;
	return true;
}

bool poly_is_constant(const poly *x, int64_t *value)
{
	if (!x || x->n > 1 || (x->n == 1 && x->terms[0].n > 0))
		return false;
	*value = x->n ? x->terms[0].coefficient : 0;
	return true;
}

/* Marks the atoms of x and the atoms inside these. */
static void mark(const poly_space *s, const poly *x, bool *seen)
{
	for (int i = 0; x && i < x->n; i++) {
		for (int j = 0; j < x->terms[i].n; j++) {
			int atom = x->terms[i].atom[j];
			if (seen[atom])
				continue;
			seen[atom] = true;
			mark(s, s->atoms[atom].x, seen);
			mark(s, s->atoms[atom].y, seen);
		}
	}
}

bool poly_uses(const poly_space *s, const poly *x, int atom)
{
	bool seen[POLY_MAX_ATOMS] = { false };
	mark(s, x, seen);
	return seen[atom];
}

bool poly_uses_kind(const poly_space *s, const poly *x, atom_kind kind)
{
	bool seen[POLY_MAX_ATOMS] = { false };
	mark(s, x, seen);
	for (int i = 0; i < s->natoms; i++)
		if (seen[i] && s->atoms[i].kind == kind)
			return true;
	return false;
}

bool poly_split(const poly_space *s, arena *a, const poly *x, int atom,
		const poly **c, const poly **rest)
{
	if (!x)
		return false;
	*c = *rest = poly_int(a, 0);
	const term unit = { .coefficient = 1, .n = 1, .atom = { atom } };
	for (int i = 0; i < x->n && *c && *rest; i++) {
		term t;
		bool has = divide_terms(&x->terms[i], &unit, &t);
		const poly one = { 1, has ? &t : &x->terms[i] };
		if (poly_uses(s, &one, atom))
			return false;
		if (has)
			*c = combine(a, *c, &one, 1);
		else
			*rest = combine(a, *rest, &one, 1);
	}
	return *c && *rest;
}

/* ---- substitution and values -------------------------------------------- */

static const poly *subst_atom(poly_space *s, int in, int atom, const poly *by)
{
	if (in == atom)
		return by;
	const poly_atom t = s->atoms[in];
	if (!t.x || !(poly_uses(s, t.x, atom) || poly_uses(s, t.y, atom)))
		return poly_of(s->arena, in);
	const poly *x = poly_subst(s, t.x, atom, by);
	const poly *y = poly_subst(s, t.y, atom, by);
	switch (t.kind) {
	case ATOM_DIV:
		return poly_div(s, x, y);
	case ATOM_MOD:
		return poly_mod(s, x, y);
	case ATOM_MIN:
		return poly_min(s, x, y);
	default:
		return poly_max(s, x, y);
	}
}

const poly *poly_subst(poly_space *s, const poly *x, int atom, const poly *by)
{
	if (!x || !by)
		return NULL;
	if (!poly_uses(s, x, atom))
		return x;
	const poly *sum = poly_int(s->arena, 0);
	for (int i = 0; i < x->n; i++) {
		const term *t = &x->terms[i];
		const poly *p = poly_int(s->arena, t->coefficient);
		for (int j = 0; j < t->n; j++)
			p = poly_mul(s->arena, p,
				     subst_atom(s, t->atom[j], atom, by));
		sum = poly_add(s->arena, sum, p);
	}
	return sum;
}

bool poly_operation(atom_kind kind, int64_t x, int64_t y, int64_t *r)
{
	switch (kind) {
	case ATOM_DIV:
	case ATOM_MOD:
		if (y <= 0)
			return false;
		*r = kind == ATOM_DIV ? floor_div(x, y) : floor_mod(x, y);
		return true;
	case ATOM_MIN:
		*r = x < y ? x : y;
		return true;
	default:
		*r = x > y ? x : y;
		return true;
	}
}

static bool eval_atom(const poly_space *s, int atom, const int64_t *values,
		      int64_t *r)
{
	const poly_atom *t = &s->atoms[atom];
	if (!t->x) {
		*r = values[atom];
		return true;
	}
	int64_t x, y;
	return poly_eval(s, t->x, values, &x) &&
	       poly_eval(s, t->y, values, &y) &&
	       poly_operation(t->kind, x, y, r);
}

bool poly_eval(const poly_space *s, const poly *x, const int64_t *values,
	       int64_t *r)
{
	if (!x)
		return false;
	*r = 0;
	for (int i = 0; i < x->n; i++) {
		int64_t product = x->terms[i].coefficient, v;
		for (int j = 0; j < x->terms[i].n; j++)
			if (!eval_atom(s, x->terms[i].atom[j], values, &v) ||
			    !ck_mul(product, v, &product))
				return false;
		if (!ck_add(*r, product, r))
			return false;
	}
	return true;
}

/* ---- text --------------------------------------------------------------- */

static char *atom_text(arena *a, const poly_space *s, int atom)
{
	const poly_atom *t = &s->atoms[atom];
	if (!t->x)
		return arena_strdup(a, t->name);
	char *x = poly_text(a, s, t->x), *y = poly_text(a, s, t->y);
	if (t->kind == ATOM_MIN || t->kind == ATOM_MAX)
		return arena_printf(a, "%s(%s, %s)",
				    t->kind == ATOM_MIN ? "min" : "max", x, y);
	/* Put parentheses around a sum or a product. */
	bool px = strchr(x, ' ') || strchr(x, '*') || *x == '-';
	bool py = strchr(y, ' ') || strchr(y, '*');
	return arena_printf(a, "%s%s%s %c %s%s%s", px ? "(" : "", x,
			    px ? ")" : "", t->kind == ATOM_DIV ? '/' : '%',
			    py ? "(" : "", y, py ? ")" : "");
}

/* The text of a term without its sign.  negated: a minus precedes it at the
 * beginning of the sum, as -(X / 2) differs from -X / 2. */
static char *term_text(arena *a, const poly_space *s, const term *t,
		       bool negated)
{
	unsigned long long c = t->coefficient < 0
				       ? -(unsigned long long)t->coefficient
				       : (unsigned long long)t->coefficient;
	char *text = c == 1 && t->n ? arena_strdup(a, "")
				    : arena_printf(a, "%llu", c);
	for (int i = 0; i < t->n; i++) {
		bool single = *text == '\0' && t->n == 1;
		atom_kind kind = s->atoms[t->atom[i]].kind;
		bool wrap = (kind == ATOM_DIV || kind == ATOM_MOD) &&
			    (!single || negated);
		text = arena_printf(a, "%s%s%s%s%s", text, *text ? "*" : "",
				    wrap ? "(" : "",
				    atom_text(a, s, t->atom[i]),
				    wrap ? ")" : "");
	}
	return text;
}

char *poly_text(arena *a, const poly_space *s, const poly *x)
{
	if (!x)
		return arena_strdup(a, "?");
	if (x->n == 0)
		return arena_strdup(a, "0");
	int first = 0;
	while (first < x->n && x->terms[first].coefficient < 0)
		first++;
	first = first == x->n ? 0 : first;
	bool minus = x->terms[first].coefficient < 0;
	char *text = arena_printf(a, "%s%s", minus ? "-" : "",
				  term_text(a, s, &x->terms[first], minus));
	for (int i = 0; i < x->n; i++) {
		const term *t = &x->terms[i];
		if (i != first)
			text = arena_printf(a, "%s %c %s", text,
					    t->coefficient < 0 ? '-' : '+',
					    term_text(a, s, t, false));
	}
	return text;
}
