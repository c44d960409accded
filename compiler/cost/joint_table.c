/* Most costs follow from nests (joint_nests.h); for the others groups are
 * visited.
 *
 * In each dimension a way to cut the tensor is a mask: the axes that cut the
 * dimension.  The elements that a row (a way to divide the node) needs and has
 * in a dimension are looked up by mask and group.  A cost is a sum over groups
 * of products of these numbers, each of which is computed when first needed. */
#include "config.h"

#include "compiler/cost/joint_table.h"

#include <string.h>

#include "base/checked.h"
#include "compiler/cost/byte_model.h"
#include "compiler/cost/joint_nests.h"

enum {
	/* also the most masks of axes that cut a dimension */
	MOST_GROUPS = 256,
	BY_AXIS = 8192, /* work per cost computed axis by axis */
	LANES = 8, /* groups processed at a time */
};

/* Integers up to this are exact as double. */
#define EXACT 0x1p52

typedef struct interval {
	int64_t lo, hi;
} interval;

/* A dimension cut along some axes. */
typedef struct slicing {
	interval *have; /* by group: its block; NULL: not needed yet */
	/* by group: how much of it the group reads or produces, .. */
	double *both;
	int row;	/* .. in this row */
} slicing;

typedef struct dimension {
	int64_t size;
	slicing *at; /* by the mask of the axes */
} dimension;

typedef struct maker {
	arena *tmp;
	const mesh *m;
	const joint_pair *p;
	int ngroups, nlanes;	       /* nlanes: ngroups, rounded up */
	int n;			       /* dimensions of the tensor */
	int (*coords)[MAX_AXES];       /* of each group */
	dimension dims[MAX_NVARS];
	unsigned char *masks; /* [tensors->n][n] */
	joint_nests *nests;   /* NULL: not for this pair */
	/* Of the last row whose groups were visited. */
	int row;
	box *deals; /* regions that groups read, or produce */
	uint32_t partial;
	double volume; /* sum of all deals */
} maker;

/* ---- set-up ------------------------------------------------------------ */

int joint_sizes(const joint_pair *p, int64_t *sizes, int64_t *element)
{
	const kernel *k = p->kernel;
	if (p->inputs) {
		const kinput *in = &k->inputs[__builtin_ctz(p->inputs)];
		*element = (int64_t)dtype_size(in->type);
		memcpy(sizes, in->dims, (size_t)in->ndim * sizeof(*sizes));
		return in->ndim;
	}
	*element = (int64_t)dtype_size(k->type);
	for (int d = 0; d < k->nout; d++)
		sizes[d] = kernel_dim(k, d);
	return k->nout;
}

bool joint_is_exact(const mesh *m, const joint_pair *p)
{
	int64_t sizes[MAX_NVARS], element;
	int n = joint_sizes(p, sizes, &element);
	/* Of a partial result a group receives what all others have of it. */
	double volume = (double)mesh_workers(m) * mesh_workers(m);
	for (int d = 0; d < n; d++)
		volume *= (double)sizes[d];
	return volume < EXACT;
}

bool joint_table_can(const mesh *m, const joint_pair *p)
{
	return mesh_workers(m) <= MOST_GROUPS && joint_is_exact(m, p);
}

int64_t joint_cell_work(const mesh *m)
{
	int ngroups = mesh_workers(m);
	return ngroups <= MOST_GROUPS ? ngroups : BY_AXIS;
}

static uint32_t mask_of(const mesh *m, const cuts *c, int d)
{
	uint32_t mask = 0;
	for (int a = 0; a < m->naxes; a++)
		if (c->dim[a] == d)
			mask |= UINT32_C(1) << a;
	return mask;
}

/* The part of an interval that a group has if the axes in the mask cut it. */
static interval block_of(const maker *w, interval i, uint32_t mask, int group)
{
	for (; mask; mask &= mask - 1) {
		int a = __builtin_ctz(mask);
		block(i.lo, i.hi, w->coords[group][a], w->m->size[a], &i.lo,
		      &i.hi);
	}
	return i;
}

static void set_dimension(maker *w, int at)
{
	dimension *d = &w->dims[at];
	const candidates *tensors = w->p->tensors;
	d->at = ARENA_ARRAY(w->tmp, slicing, 1 << w->m->naxes);
	for (int i = 0; i < 1 << w->m->naxes; i++)
		d->at[i].row = -1;
	for (int j = 0; j < tensors->n; j++)
		w->masks[j * w->n + at] = (unsigned char)mask_of(
			w->m, &tensors->at[j], at);
}

/* The blocks of dimension d cut along some axes: the blocks for all axes but
 * the last, cut further by the last. */
static const interval *blocks_of(const maker *w, int d, uint32_t mask)
{
	const dimension *at = &w->dims[d];
	slicing *s = &at->at[mask];
	if (s->have)
		return s->have;
	s->have = ARENA_ARRAY(w->tmp, interval, w->ngroups);
	int last = mask ? 31 - __builtin_clz(mask) : 0;
	const interval *outer = NULL;
	if (mask)
		outer = blocks_of(w, d, mask & ~(UINT32_C(1) << last));
	for (int g = 0; g < w->ngroups; g++)
		s->have[g] = mask ? block_of(w, outer[g], UINT32_C(1) << last,
					     g)
				  : (interval){ 0, at->size };
	return s->have;
}

static maker start(arena *tmp, const mesh *m, const joint_pair *p,
		   int64_t *element)
{
	maker w = { .tmp = tmp, .m = m, .p = p, .ngroups = mesh_workers(m),
		    .row = -1 };
	int64_t sizes[MAX_NVARS];
	w.nlanes = (int)round_up(w.ngroups, LANES);
	w.n = joint_sizes(p, sizes, element);
	w.coords = arena_calloc(tmp, (size_t)w.ngroups, sizeof(*w.coords));
	for (int g = 0; g < w.ngroups; g++)
		mesh_coords(m, g, w.coords[g]);
	w.masks = ARENA_ARRAY(tmp, unsigned char, p->tensors->n * w.n);
	w.deals = ARENA_ARRAY(tmp, box, w.ngroups);
	for (int d = 0; d < w.n; d++) {
		w.dims[d].size = sizes[d];
		set_dimension(&w, d);
	}
	return w;
}

/* ---- rows -------------------------------------------------------------- */

static interval common(interval x, interval y)
{
	interval i = { x.lo > y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi };
	return i.hi > i.lo ? i : (interval){ 0, 0 };
}

/* The part of each region in the blocks of dimension d.  For partial results,
 * of which a group owns a part, the region is first cut by the axes of
 * combination as the tensor is. */
static const double *both_in(const maker *w, int d, uint32_t mask)
{
	const interval *have = blocks_of(w, d, mask);
	slicing *s = &w->dims[d].at[mask];
	if (s->row == w->row)
		return s->both;
	s->row = w->row;
	if (!s->both)
		s->both = ARENA_ARRAY(w->tmp, double, w->nlanes);
	for (int g = 0; g < w->ngroups; g++) {
		const box *b = &w->deals[g];
		interval own = block_of(w, (interval){ b->lo[d], b->hi[d] },
					mask & w->partial, g);
		interval c = common(own, have[g]);
		s->both[g] = (double)(c.hi - c.lo);
	}
	return s->both;
}

static double volume_of(const box *b)
{
	double v = 1;
	for (int d = 0; d < b->n; d++)
		v *= (double)(b->hi[d] - b->lo[d]);
	return v;
}

/* Sets the regions of a row of nests. */
static void set_nested(maker *w)
{
	for (int d = 0; d < w->n; d++) {
		const interval *have = blocks_of(
			w, d, joint_nests_axes(w->nests, d));
		for (int g = 0; g < w->ngroups; g++) {
			w->deals[g].n = w->n;
			w->deals[g].lo[d] = have[g].lo;
			w->deals[g].hi[d] = have[g].hi;
		}
	}
}

static void set_deals(maker *w, const cuts *c)
{
	const joint_pair *p = w->p;
	const box space = kernel_space(p->kernel);
	for (int g = 0; g < w->ngroups; g++) {
		box part = cuts_block(&space, w->m, c, w->m->naxes,
				      w->coords[g]);
		w->deals[g] =
			p->inputs ? layout_needs(p->kernel, &part, p->inputs)
				  : kernel_produces(p->kernel, &part);
	}
}

/* Visits the groups for a row. */
static void set_row(maker *w, int row)
{
	const joint_pair *p = w->p;
	const cuts *c = &p->nodes->at[row];
	if (w->row == row)
		return;
	w->row = row;
	w->partial = p->inputs ? 0 : layout_partial_axes(w->m, p->kernel, c);
	if (w->nests && w->nests->some)
		set_nested(w);
	else
		set_deals(w, c);
	w->volume = 0;
	for (int g = 0; g < w->ngroups; g++)
		w->volume += volume_of(&w->deals[g]);
}

/* ---- costs ------------------------------------------------------------- */

/* Elements that groups read or produce and already have, under the j-th way to
 * cut the tensor. */
static double both_of(const maker *w, int j)
{
	const double *both[MAX_NVARS];
	double sum[LANES] = { 0 };
	for (int d = 0; d < w->n; d++)
		both[d] = both_in(w, d, w->masks[j * w->n + d]);
	for (int g = 0; g < w->nlanes; g += LANES) {
		double product[LANES];
		for (int i = 0; i < LANES; i++)
			product[i] = g + i < w->ngroups;
		for (int d = 0; d < w->n; d++)
			for (int i = 0; i < LANES; i++)
				product[i] *= both[d][g + i];
		for (int i = 0; i < LANES; i++)
			sum[i] += product[i];
	}
	for (int i = 1; i < LANES; i++)
		sum[0] += sum[i];
	return sum[0];
}

static box stored_of(const maker *w, int j, int group)
{
	box b = { .n = w->n };
	for (int d = 0; d < w->n; d++) {
		interval i = blocks_of(w, d, w->masks[j * w->n + d])[group];
		b.lo[d] = i.lo;
		b.hi[d] = i.hi;
	}
	return b;
}

/* Whether a group's own part of a partial result is not a box. */
static bool owns_runs(const maker *w, const cuts *c)
{
	for (int a = 0; a < w->m->naxes; a++)
		if ((w->partial >> a & 1) && c->dim[a] == CUT_NONE)
			return true;
	return false;
}

/* The axes along which partial results are combined. */
static uint32_t combined(const maker *w, int j)
{
	const cuts *c = &w->p->tensors->at[j];
	return w->partial & ~cuts_partial(c, w->m->naxes);
}

/* Elements of the result that groups receive as partial results: all sharers
 * together own the result once, and each receives its own part from all
 * others. */
static double summed(const maker *w, int j)
{
	int share = layout_sharers(w->m, combined(w, j));
	return w->volume / share * (share - 1);
}

/* Elements of the result that groups receive if they own runs of it. */
static double received(const maker *w, int j)
{
	result_move r = { w->m, &w->p->tensors->at[j], combined(w, j) };
	double sum = 0;
	for (int g = 0; g < w->ngroups; g++) {
		box stored = stored_of(w, j, g);
		sum += (double)byte_model_result(&r, &w->deals[g], &stored,
						 w->coords[g]);
	}
	return sum;
}

/* Elements that all groups store; groups on axes that cut nothing store equally
 * many. */
static double stored_volume(const maker *w, int j)
{
	const cuts *c = &w->p->tensors->at[j];
	double n = layout_sharers(w->m, cuts_whole(c, w->m->naxes));
	for (int d = 0; d < w->n; d++)
		n *= (double)w->dims[d].size;
	return n;
}

/* Elements that the groups receive, found by visiting them. */
static double received_by_visit(maker *w, int i, int j)
{
	set_row(w, i);
	if (w->p->inputs)
		return (w->volume - both_of(w, j)) /
		       layout_zero_share(w->m, w->p->kernel,
					 &w->p->nodes->at[i], w->p->inputs,
					 &w->p->tensors->at[j]);
	if (owns_runs(w, &w->p->tensors->at[j]))
		return received(w, j);
	return summed(w, j) + stored_volume(w, j) - both_of(w, j);
}

void joint_table(const mesh *m, const joint_pair *p, int64_t *table)
{
	arena *tmp = arena_new();
	int64_t element;
	maker w = start(tmp, m, p, &element);
	joint_nests *nests = w.nests = joint_nests_new(tmp, m, p);
	for (int i = 0; i < p->nodes->n; i++) {
		if (nests)
			joint_nests_row(nests, &p->nodes->at[i]);
		for (int j = 0; j < p->tensors->n; j++) {
			int64_t n;
			if (!layout_fits(m, p->kernel, &p->nodes->at[i],
					 p->inputs, &p->tensors->at[j])) {
				*table++ = COST_MAX;
				continue;
			}
			if (!nests || !joint_nests_received(nests, j, &n))
				n = (int64_t)received_by_visit(&w, i, j);
			*table++ = cost_mul(n, element);
		}
	}
	arena_free(tmp);
}
