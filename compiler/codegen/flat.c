/* Indices with quotients and remainders that are even steps through memory.  A
 * tensor read in another shape has such indices:
 *
 *	x[v / 64, v % 64] is element v of x, if its rows are 64 apart.
 *
 * The offset is written as an affine sum and a sum of floors.  Remainders
 * become quotients: v % m = v - m * (v / m). */
#include "config.h"

#include "compiler/codegen/nest.h"

#include "base/checked.h"

enum { MOST_FLOORS = 16 };

/* coef * floor(x / by) */
typedef struct floor_of {
	linear x;
	int64_t by, coef;
} floor_of;

typedef struct offset {
	const nest *n;
	linear x;
	int nfloors;
	floor_of floors[MOST_FLOORS];
} offset;

static bool add_index(offset *to, const kexpr *e, int64_t coef);

static bool same_linear(const nest *n, const linear *x, const linear *y)
{
	for (int l = 0; l < n->n; l++)
		if (x->coef[l] != y->coef[l])
			return false;
	return x->c == y->c;
}

/* The positive constant by which e is divided; otherwise 0. */
static int64_t divisor_of(const kexpr *e, fn f)
{
	if (e->kind != KX_FN || e->fn != f || e->type != DT_I64 ||
	    e->args[1]->kind != KX_INT || e->args[1]->i <= 0)
		return 0;
	return e->args[1]->i;
}

static bool add_floor_of(offset *to, const linear *x, int64_t by, int64_t coef)
{
	int i = 0;
	while (i < to->nfloors &&
	       !(to->floors[i].by == by &&
		 same_linear(to->n, &to->floors[i].x, x)))
		i++;
	if (i == MOST_FLOORS)
		return false;
	if (i == to->nfloors)
		to->floors[to->nfloors++] = (floor_of){ *x, by, 0 };
	return ck_add(to->floors[i].coef, coef, &to->floors[i].coef);
}

/* Adds coef * floor(e / by). */
static bool add_floor(offset *to, const kexpr *e, int64_t by, int64_t coef)
{
	int64_t d = divisor_of(e, FN_DIV), m = divisor_of(e, FN_MOD), less;
	linear x = linear_of(to->n, e);
	if (x.affine)
		return add_floor_of(to, &x, by, coef);
	if (d)
		return ck_mul(d, by, &d) && add_floor(to, e->args[0], d, coef);
	return m && m % by == 0 && add_floor(to, e->args[0], by, coef) &&
	       ck_mul(-(m / by), coef, &less) &&
	       add_floor(to, e->args[0], m, less);
}

static bool add_function(offset *to, const kexpr *e, int64_t coef)
{
	int64_t d = divisor_of(e, FN_DIV), m = divisor_of(e, FN_MOD), less;
	if (d)
		return add_floor(to, e->args[0], d, coef);
	if (m)
		return ck_mul(-m, coef, &less) &&
		       add_index(to, e->args[0], coef) &&
		       add_floor(to, e->args[0], m, less);
	if (e->fn == FN_ADD)
		return add_index(to, e->args[0], coef) &&
		       add_index(to, e->args[1], coef);
	if (e->fn == FN_MUL && e->args[0]->kind == KX_INT)
		return ck_mul(e->args[0]->i, coef, &coef) &&
		       add_index(to, e->args[1], coef);
	return false;
}

/* Adds coef * e. */
static bool add_index(offset *to, const kexpr *e, int64_t coef)
{
	linear x = linear_of(to->n, e);
	if (x.affine) {
		to->x = linear_plus(to->n, to->x, x, coef);
		return to->x.affine;
	}
	return e->kind == KX_FN && e->type == DT_I64 &&
	       add_function(to, e, coef);
}

bool linear_offset(const nest *n, const kexpr *read, linear *x)
{
	const int64_t *dims = n->k->inputs[read->input].dims;
	offset o = { .n = n, .x = { .affine = true } };
	int64_t stride = 1;
	for (int d = kx_ndim(read) - 1; d >= 0; d--) {
		if (!add_index(&o, read->args[d], stride) ||
		    !ck_mul(stride, dims[d], &stride))
			return false;
	}
	for (int i = 0; i < o.nfloors; i++)
		if (o.floors[i].coef)
			return false;
	*x = o.x;
	return true;
}
