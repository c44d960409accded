#include "config.h"

#include "plan/gemm_loops.h"

/* The most values of a variable that are looked at one by one. */
enum { MAX_ODD = 1 << 12 };

static int64_t place_in(const gemm_layout *x, int side)
{
	const view *v = x->views[side];
	const factor *f = side == GEMM_LEFT ? &x->c->left : &x->c->right;
	int ndim = side == GEMM_OUT ? x->k->nout : f->ndim;
	int64_t at = 0;
	for (int d = 0; d < ndim; d++) {
		int64_t i = side == GEMM_OUT ?
				    x->at.lo[d] :
				    index_span(&f->at[d], &x->at).lo;
		at += (i - v->at.lo[d]) * v->stride[d];
	}
	return at;
}

static void move_to(gemm_layout *x, int var, int64_t i)
{
	x->at.lo[var] = i;
	x->at.hi[var] = i + 1;
}

/* Lists the places of a variable's values, relative to the first one's. */
static void list_places(gemm_layout *x, gemm_dim *d, int64_t lo)
{
	for (int s = 0; s < GEMM_SIDES; s++)
		d->at[s] = ARENA_ARRAY(x->a, int64_t, d->count);
	for (int64_t i = 0; i < d->count; i++) {
		move_to(x, d->var, lo + i);
		for (int s = 0; s < GEMM_SIDES; s++)
			d->at[s][i] = place_in(x, s) - x->first[s];
	}
	move_to(x, d->var, lo);
}

/* Whether value i is at (i / n) * outer + (i % n) * inner on all sides. */
static bool is_nest(const gemm_dim *d, int64_t n)
{
	for (int s = 0; s < GEMM_SIDES; s++) {
		const int64_t *at = d->at[s];
		int64_t outer = n < d->count ? at[n] : 0;
		int64_t inner = n > 1 ? at[1] : 0;
		for (int64_t i = 0; i < d->count; i++)
			if (at[i] != (i / n) * outer + (i % n) * inner)
				return false;
	}
	return true;
}

static void push_nest(gemm_layout *x, const gemm_dim *d, int64_t n)
{
	gemm_dim outer = *d, inner = *d;
	outer.count = d->count / n;
	inner.count = n;
	outer.part = inner.part = n > 1 && n < d->count;
	for (int s = 0; s < GEMM_SIDES; s++) {
		outer.step[s] = n < d->count ? d->at[s][n] : 0;
		inner.step[s] = n > 1 ? d->at[s][1] : 0;
		outer.at[s] = inner.at[s] = NULL;
	}
	if (outer.count > 1)
		x->dims[x->ndims++] = outer;
	if (inner.count > 1)
		x->dims[x->ndims++] = inner;
}

/* Splits a variable of indices that are not affine into two loops, if these
 * give the same places. */
static bool add_odd(gemm_layout *x, gemm_dim *d, int64_t lo)
{
	if (d->count > MAX_ODD)
		return false;
	list_places(x, d, lo);
	for (int64_t n = 1; n <= d->count; n++)
		if (d->count % n == 0 && is_nest(d, n)) {
			push_nest(x, d, n);
			return true;
		}
	x->irregular = true;
	x->dims[x->ndims++] = *d;
	return true;
}

/* Sets the steps to the differences between the first two points. */
static void add_affine(gemm_layout *x, gemm_dim *d, int64_t lo)
{
	move_to(x, d->var, lo + 1);
	for (int s = 0; s < GEMM_SIDES; s++)
		d->step[s] = place_in(x, s) - x->first[s];
	move_to(x, d->var, lo);
	x->dims[x->ndims++] = *d;
}

bool gemm_loops(gemm_layout *x, const box *space)
{
	x->at.n = x->k->nvars;
	for (int v = 0; v < x->k->nvars; v++)
		move_to(x, v, space->lo[v]);
	for (int s = 0; s < GEMM_SIDES; s++)
		x->first[s] = place_in(x, s);
	for (int v = 0; v < x->k->nvars; v++) {
		gemm_dim d = { .var = v, .reduced = v >= x->k->nout,
			  .count = space->hi[v] - space->lo[v] };
		if (d.count < 2)
			continue;
		if (!(x->c->odd >> v & 1))
			add_affine(x, &d, space->lo[v]);
		else if (!add_odd(x, &d, space->lo[v]))
			return false;
	}
	return true;
}

gemm_role gemm_role_of(const gemm_dim *d)
{
	bool left = d->step[GEMM_LEFT] != 0, right = d->step[GEMM_RIGHT] != 0;
	if (d->reduced)
		return DEPTH;
	if (d->at[0] || left == right)
		return BATCH;
	return left ? ROW : COL;
}
