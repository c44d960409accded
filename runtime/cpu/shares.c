#include "config.h"

#include "runtime/cpu/shares.h"

#include <math.h>

/* The time for an element of an input, relative to that of an iteration point:
 * if it is packed in the run, and if it is kept in packed form. */
static const double PACKED = 32, KEPT = 8;

uint32_t *shares_reads(arena *a, const kernel *k)
{
	uint32_t *reads = ARENA_ARRAY(a, uint32_t, k->ninputs);
	for (int i = 0; i < k->ninputs; i++) {
		uint32_t vars[MAX_NDIM] = { 0 };
		kernel_need_vars(k, i, vars);
		for (int d = 0; d < k->inputs[i].ndim; d++)
			reads[i] |= vars[d];
	}
	return reads;
}

/* The least number of values of variable v that make whole tiles of a factor.
 * 0 if a part of them would not be contiguous. */
static int64_t unit_of(const tdl_keeps *k, const box *b, int v)
{
	int64_t inside = 1, unit = 1;
	for (int w = 0; w < b->n; w++) {
		int64_t n = b->hi[w] - b->lo[w];
		if (w < v && k->own >> w & 1 && n > 1)
			return 0;
		if (w > v && k->own >> w & 1)
			inside = inside * (n % k->tile) % k->tile;
	}
	while (unit * inside % k->tile)
		unit++;
	return unit;
}

/* The parts into which variable v can be divided, at most n. */
static shares along(const kernel_run *r, const tdl_keeps *keeps, int v, int n)
{
	const box *b = r->space;
	int64_t all = b->hi[v] - b->lo[v];
	shares d = { .var = v, .unit = 1 };
	for (int i = 0; i < KEPT_SIDES; i++)
		if (r->kept[i] && keeps[i].own >> v & 1)
			d.unit = unit_of(&keeps[i], b, v);
	all = d.unit > 0 ? (all + d.unit - 1) / d.unit : 0;
	d.nparts = all < n ? (int)all : n;
	return d;
}

/* The mask of inputs that a run has in packed form. */
static uint32_t kept_inputs(const kernel_run *r, const tdl_keeps *keeps)
{
	uint32_t s = 0;
	for (int i = 0; i < KEPT_SIDES; i++)
		if (r->kept[i])
			s |= keeps[i].inputs;
	return s;
}

double shares_points(const kernel *k, const box *space)
{
	double points = 1;
	for (int v = 0; v < k->nvars; v++)
		if (k->vars[v].kind != KVAR_DERIVED)
			points *= (double)(space->hi[v] - space->lo[v]);
	return points;
}

/* The largest part of a variable's values, as a fraction. */
static double share_of(const shares *d, const box *space)
{
	int64_t all = space->hi[d->var] - space->lo[d->var];
	int64_t units = (all + d->unit - 1) / d->unit;
	int64_t most = (units + d->nparts - 1) / d->nparts * d->unit;
	return most < all ? (double)most / (double)all : 1;
}

/* The time of the largest part, in times of a point. */
static double time_of(const kernel *k, const kernel_run *r,
		      const uint32_t *reads, const tdl_keeps *keeps,
		      const shares *d)
{
	double share = share_of(d, r->space);
	double time = shares_points(k, r->space) * share;
	uint32_t kept = kept_inputs(r, keeps);
	for (int i = 0; i < k->ninputs; i++)
		time += (double)box_volume(&r->inputs[i].at) *
			(reads[i] >> d->var & 1 ? share : 1) *
			(kept >> i & 1 ? KEPT : PACKED);
	return time;
}

shares shares_of(const kernel *k, const kernel_run *r,
		     const uint32_t *reads, const tdl_keeps *keeps,
		     int nthreads)
{
	shares best = { .nparts = 1, .unit = 1 };
	double least = INFINITY;
	for (int v = 0; v < k->nout && nthreads > 1; v++) {
		shares d = along(r, keeps, v, nthreads);
		double time = d.nparts > 1 ? time_of(k, r, reads, keeps, &d) :
					     INFINITY;
		if (time < least) {
			best = d;
			least = time;
		}
	}
	return best;
}

box shares_part(const shares *d, const box *space, int i)
{
	box b = *space;
	int64_t lo = b.lo[d->var], hi = b.hi[d->var], first, end;
	if (d->nparts < 2)
		return b;
	block(0, (hi - lo + d->unit - 1) / d->unit, i, d->nparts, &first, &end);
	b.lo[d->var] = lo + first * d->unit;
	b.hi[d->var] = lo + end * d->unit < hi ? lo + end * d->unit : hi;
	return b;
}
