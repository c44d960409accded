/* Searches for points at which x >= 0 does not hold.
 *
 * Most goals that cannot be proved are false, and most of these are false for
 * small numbers.  Trying a few dozen points takes less time than one failed
 * search for a proof. */
#include "config.h"

#include "compiler/analysis/poly.h"

#include "base/checked.h"

enum {
	POINTS = 48,
	SPREAD = 5, /* values tried for an atom without an upper bound */
	BELOW = -2, /* least value tried for an atom without a lower bound */
};

typedef struct point {
	const poly_space *space;
	uint32_t number;
	/* by atom; valid if the atom's stamp is the point's number */
	int64_t *values;
	uint32_t *stamps;
} point;

static bool value_of(point *p, const poly *x, int64_t *r);

/* A pseudorandom number for an atom at a point. */
static uint32_t draw(const point *p, int atom)
{
	uint32_t h = p->number * 2654435761u + (uint32_t)atom * 2246822519u;
	h = (h ^ h >> 15) * 3266489917u;
	return h ^ h >> 16;
}

/* Draws a value from a range: the lower end, the upper end or any value, each
 * with probability one third. */
static bool choose(point *p, int atom, int64_t *r)
{
	const poly_atom *t = &p->space->atoms[atom];
	uint32_t h = draw(p, atom);
	int64_t lo = t->min == POLY_NO_MIN ? BELOW : t->min;
	int64_t hi = lo + SPREAD;
	if ((t->max && !value_of(p, t->max, &hi)) || hi < lo)
		return false;
	uint64_t between = (uint64_t)hi - (uint64_t)lo + 1;
	if (h % 3 == 0)
		*r = lo;
	else if (h % 3 == 1)
		*r = hi;
	else
		*r = lo + (int64_t)(h / 3 % (between ? between : 1));
	return true;
}

static bool compute(point *p, const poly_atom *t, int64_t *r)
{
	int64_t x, y;
	return value_of(p, t->x, &x) && value_of(p, t->y, &y) &&
	       poly_operation(t->kind, x, y, r);
}

static bool atom_value(point *p, int atom, int64_t *r)
{
	const poly_atom *t = &p->space->atoms[atom];
	if (p->stamps[atom] != p->number) {
		if (!(t->x ? compute(p, t, r) : choose(p, atom, r)))
			return false;
		p->stamps[atom] = p->number;
		p->values[atom] = *r;
	}
	*r = p->values[atom];
	return true;
}

/* Evaluates x at the point.  Returns false on overflow, or if an atom is
 * outside its range. */
static bool value_of(point *p, const poly *x, int64_t *r)
{
	*r = 0;
	for (int i = 0; i < x->n; i++) {
		int64_t product = x->terms[i].coefficient, v = 0;
		for (int j = 0; j < x->terms[i].n; j++)
			if (!atom_value(p, x->terms[i].atom[j], &v) ||
			    !ck_mul(product, v, &product))
				return false;
		if (!ck_add(*r, product, r))
			return false;
	}
	return true;
}

static bool fails_at(point *p, const poly_facts *f, const poly *x)
{
	int64_t v = 0;
	if (!value_of(p, x, &v) || v >= 0)
		return false;
	for (int i = 0; f && i < f->n; i++)
		if (f->at[i] && (!value_of(p, f->at[i], &v) || v < 0))
			return false;
	return true;
}

bool poly_refuted(const poly_space *s, const poly_facts *f, const poly *x)
{
	arena *a = arena_new();
	point p = { .space = s,
		    .values = ARENA_ARRAY(a, int64_t, s->natoms),
		    .stamps = ARENA_ARRAY(a, uint32_t, s->natoms) };
	bool fails = false;
	while (!fails && p.number < POINTS) {
		p.number++;
		fails = fails_at(&p, f, x);
	}
	arena_free(a);
	return fails;
}
