/* In each dimension a way to cut the tensor is a mask: the axes that cut that
 * dimension.  So the elements that a row, a way to divide the node, needs and
 * has in a dimension are looked up by mask and group, and a cost is a sum over
 * groups of products of numbers that are computed already. */
#include "config.h"

#include "compiler/cost/joint_table.h"

#include <string.h>

#include "base/checked.h"
#include "compiler/cost/byte_model.h"

enum {
	MOST_GROUPS = 256, /* so masks of axes that cut a dimension are, too */
	BY_AXIS = 8192, /* work of a cost computed axis by axis */
	LANES = 8, /* groups are looked at so many at a time */
};

/* Whole numbers up to here are exact as double. */
#define EXACT 0x1p52

typedef struct interval {
	int64_t lo, hi;
} interval;

/* The cuts of the tensor in one dimension: the masks of axes that occur, and
 * the blocks of each. */
typedef struct dimension {
	int64_t size;
	int nmasks;
	uint32_t *mask;
	interval *have; /* [nmasks][ngroups] */
	double *both;	/* [nmasks][nlanes], of a row: how much of that it
			   deals with */
} dimension;

typedef struct maker {
	arena *tmp;
	const mesh *m;
	const joint_pair *p;
	int ngroups, nlanes;	       /* nlanes: groups, rounded up */
	int n;			       /* dimensions of the tensor */
	int (*coords)[MAX_AXES];       /* of the groups */
	dimension dims[MAX_NVARS];
	unsigned char *masks; /* [tensors->n][n]: places in dims[].mask */
	/* Of the row at hand. */
	box *deals; /* regions that groups read, or produce */
	uint32_t partial;
	double volume; /* of all deals */
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
	/* A group receives, of parts of a sum, what all others have of it. */
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

/* The place of a mask in a dimension, which is added if it is new. */
static int place_of(dimension *d, uint32_t mask)
{
	for (int i = 0; i < d->nmasks; i++)
		if (d->mask[i] == mask)
			return i;
	d->mask[d->nmasks] = mask;
	return d->nmasks++;
}

/* The part of [0, size) that a group has where the axes in the mask cut it. */
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
	d->mask = ARENA_ARRAY(w->tmp, uint32_t, 1 << w->m->naxes);
	for (int j = 0; j < tensors->n; j++)
		w->masks[j * w->n + at] = (unsigned char)place_of(
			d, mask_of(w->m, &tensors->at[j], at));
	d->have = ARENA_ARRAY(w->tmp, interval, d->nmasks * w->ngroups);
	d->both = ARENA_ARRAY(w->tmp, double, d->nmasks * w->nlanes);
	for (int i = 0; i < d->nmasks; i++)
		for (int g = 0; g < w->ngroups; g++)
			d->have[i * w->ngroups + g] = block_of(
				w, (interval){ 0, d->size }, d->mask[i], g);
}

static maker start(arena *tmp, const mesh *m, const joint_pair *p,
		   int64_t *element)
{
	maker w = { .tmp = tmp, .m = m, .p = p, .ngroups = mesh_workers(m) };
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

/* Sets the part of each region that lies in dimension d's block.  For parts of
 * a sum, of which a group owns one, the region is first cut by those axes as
 * the tensor is. */
static void set_both(maker *w, int at)
{
	dimension *d = &w->dims[at];
	for (int i = 0; i < d->nmasks; i++)
		for (int g = 0; g < w->ngroups; g++) {
			const box *b = &w->deals[g];
			interval own = block_of(w, (interval){ b->lo[at],
							       b->hi[at] },
						d->mask[i] & w->partial, g);
			interval c = common(own, d->have[i * w->ngroups + g]);
			d->both[i * w->nlanes + g] = (double)(c.hi - c.lo);
		}
}

static double volume_of(const box *b)
{
	double v = 1;
	for (int d = 0; d < b->n; d++)
		v *= (double)(b->hi[d] - b->lo[d]);
	return v;
}

static void set_row(maker *w, const cuts *c)
{
	const joint_pair *p = w->p;
	const box space = kernel_space(p->kernel);
	w->partial = p->inputs ? 0 : layout_partial_axes(w->m, p->kernel, c);
	w->volume = 0;
	for (int g = 0; g < w->ngroups; g++) {
		box part = cuts_block(&space, w->m, c, w->m->naxes,
				      w->coords[g]);
		w->deals[g] =
			p->inputs ? layout_needs(p->kernel, &part, p->inputs)
				  : kernel_produces(p->kernel, &part);
		w->volume += volume_of(&w->deals[g]);
	}
	for (int d = 0; d < w->n; d++)
		set_both(w, d);
}

/* ---- costs ------------------------------------------------------------- */

/* Elements of what groups deal with that they have, under the j-th way of the
 * tensor. */
static double both_of(const maker *w, int j)
{
	const unsigned char *mask = w->masks + j * w->n;
	double sum[LANES] = { 0 };
	for (int g = 0; g < w->nlanes; g += LANES) {
		double product[LANES];
		for (int i = 0; i < LANES; i++)
			product[i] = g + i < w->ngroups;
		for (int d = 0; d < w->n; d++) {
			const dimension *at = &w->dims[d];
			const double *both = at->both + mask[d] * w->nlanes + g;
			for (int i = 0; i < LANES; i++)
				product[i] *= both[i];
		}
		for (int i = 0; i < LANES; i++)
			sum[i] += product[i];
	}
	for (int i = 1; i < LANES; i++)
		sum[0] += sum[i];
	return sum[0];
}

static box stored_of(const maker *w, int j, int group)
{
	const unsigned char *mask = w->masks + j * w->n;
	box b = { .n = w->n };
	for (int d = 0; d < w->n; d++) {
		const dimension *at = &w->dims[d];
		interval i = at->have[mask[d] * w->ngroups + group];
		b.lo[d] = i.lo;
		b.hi[d] = i.hi;
	}
	return b;
}

/* Whether a part of a sum that a group owns is no box. */
static bool owns_runs(const maker *w, const cuts *c)
{
	for (int a = 0; a < w->m->naxes; a++)
		if ((w->partial >> a & 1) && c->dim[a] == CUT_NONE)
			return true;
	return false;
}

/* The axes along which parts of a sum are combined. */
static uint32_t combined(const maker *w, int j)
{
	const cuts *c = &w->p->tensors->at[j];
	return w->partial & ~cuts_partial(c, w->m->naxes);
}

/* Elements of the result that groups receive as parts of sums: all that share
 * these own the result once, and each receives its own from all others. */
static double summed(const maker *w, int j)
{
	int share = layout_sharers(w->m, combined(w, j));
	return w->volume / share * (share - 1);
}

/* Elements of the result that groups receive, where they own runs of it. */
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

/* Elements that all groups store under each way of the tensor. */
static double *stored_volumes(const maker *w)
{
	double *to = ARENA_ARRAY(w->tmp, double, w->p->tensors->n);
	for (int j = 0; j < w->p->tensors->n; j++)
		for (int g = 0; g < w->ngroups; g++) {
			box stored = stored_of(w, j, g);
			to[j] += volume_of(&stored);
		}
	return to;
}

void joint_table(const mesh *m, const joint_pair *p, int64_t *table)
{
	arena *tmp = arena_new();
	int64_t element;
	maker w = start(tmp, m, p, &element);
	const double *stored = p->inputs ? NULL : stored_volumes(&w);
	for (int i = 0; i < p->nodes->n; i++) {
		set_row(&w, &p->nodes->at[i]);
		for (int j = 0; j < p->tensors->n; j++) {
			double n;
			if (!layout_fits(m, p->kernel, &p->nodes->at[i],
					 p->inputs, &p->tensors->at[j])) {
				*table++ = COST_MAX;
				continue;
			}
			if (p->inputs)
				n = w.volume - both_of(&w, j);
			else if (owns_runs(&w, &p->tensors->at[j]))
				n = received(&w, j);
			else
				n = summed(&w, j) + stored[j] - both_of(&w, j);
			*table++ = cost_mul((int64_t)n, element);
		}
	}
	arena_free(tmp);
}
