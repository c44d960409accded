/* A lower bound from symmetric axes.
 *
 * Consecutive axes of one size are alike: cutting rows by the first and columns
 * by the second makes the same blocks as the reverse, in other places.  So
 * candidates that differ only in the order of such axes form one class.  A
 * tensor of four dimensions over 64 devices has 84 classes in place of 4,096
 * candidates.
 *
 * The cost between a class of a node and a class of a tensor is at least the
 * cost of blocks of these sizes that overlap as much as they can.  So a lower
 * bound of the problem of classes is a lower bound of all plans.  Little is
 * lost: if axes were alike in every way, messages could be averaged over their
 * orders without loss, and message passing over all candidates would give the
 * bound of the classes. */
#include "config.h"

#include "compiler/planners/symmetry_bound.h"

#include <math.h>
#include <string.h>

#include "compiler/cost/byte_model.h"
#include "compiler/planners/joint_solve.h"

enum {
	MAX_CANDIDATES = 2048,	 /* classes of one tensor or node */
	MOST_CELLS = 1 << 27,	 /* cells in all cost tables together */
	MOST_GROUPS = 256,
};

/* Larger than the relative error of a few multiplications and divisions. */
#define ROUNDING 0x1p-40

/* ---- which classes there are ------------------------------------------- */

/* The choices of c that are in canonical order: on axes of one size a choice
 * may not precede that of the axis before.  Cutting nothing comes last. */
static choices in_order(const step *s, choices c, const cuts *before)
{
	int axis = step_axis(s);
	const int *size = s->as->mesh.size;
	choices some = { 0 };
	if (axis == 0 || size[axis] != size[axis - 1])
		return c;
	int last = before->dim[axis - 1];
	for (int i = 0; i < c.n; i++)
		if (c.at[i] == CUT_NONE ||
		    (last != CUT_NONE && c.at[i] >= last))
			some.at[some.n++] = c.at[i];
	return some;
}

static choices class_dims(const void *state, const step *s, tensor_id t)
{
	const rules *all = state;
	return in_order(s, all->dims(all->state, s, t),
			&s->as->tensor_cuts[t]);
}

static choices class_vars(const void *state, const step *s, node_id n)
{
	const rules *all = state;
	return in_order(s, all->vars(all->state, s, n), &s->as->node_cuts[n]);
}

/* ---- tables ------------------------------------------------------------ */

/* The extents of the regions that groups of devices handle, and the number of
 * such groups. */
typedef struct size {
	double extent[MAX_NVARS];
	int count;
} size;

typedef struct sizes {
	int n, nsizes; /* dimensions; entries */
	size *at;
	double volume; /* volume of all groups together */
	bool whole[MAX_NVARS]; /* by dimension: every group handles all of it */
} sizes;

static int64_t box_extent(const box *b, int d)
{
	return b->hi[d] - b->lo[d];
}

static void add_box(sizes *s, const box *b, const box *whole)
{
	size one = { .count = 1 };
	double volume = 1;
	for (int d = 0; d < b->n; d++)
		volume *= one.extent[d] = (double)box_extent(b, d);
	s->volume += volume;
	for (int d = 0; d < b->n; d++)
		s->whole[d] &= box_extent(b, d) == box_extent(whole, d);
	for (int i = 0; i < s->nsizes; i++)
		if (!memcmp(s->at[i].extent, one.extent, sizeof(one.extent))) {
			s->at[i].count++;
			return;
		}
	s->at[s->nsizes++] = one;
}

/* The sizes of the regions of the tensor that the groups read or produce. */
static sizes dealt_with(arena *a, const mesh *m, const joint_pair *p,
			const box *whole, const cuts *c)
{
	int coords[MAX_AXES], ngroups = mesh_workers(m);
	const box space = kernel_space(p->kernel);
	sizes s = { .n = whole->n, .at = ARENA_ARRAY(a, size, ngroups) };
	for (int d = 0; d < s.n; d++)
		s.whole[d] = true;
	for (int g = 0; g < ngroups; g++) {
		mesh_coords(m, g, coords);
		box part = cuts_block(&space, m, c, m->naxes, coords);
		box deals =
			p->inputs ? layout_needs(p->kernel, &part, p->inputs)
				  : kernel_produces(p->kernel, &part);
		add_box(&s, &deals, whole);
	}
	return s;
}

/* The extents of a cut tensor's blocks, largest and average. */
typedef struct blocks {
	double most[MAX_NVARS], mean[MAX_NVARS];
} blocks;

static blocks blocks_of(const box *whole, const mesh *m, const cuts *c)
{
	blocks b = { 0 };
	for (int d = 0; d < whole->n; d++)
		b.mean[d] = b.most[d] = (double)whole->hi[d];
	for (int a = 0; a < m->naxes; a++) {
		int d = c->dim[a];
		if (d == CUT_NONE)
			continue;
		b.mean[d] /= m->size[a];
		b.most[d] = ceil(b.most[d] / m->size[a]);
	}
	return b;
}

/* An upper bound of the elements that groups handle and that also lie in their
 * own blocks.  Each group has at most a largest block; in dimensions that all
 * groups handle completely, one of each. */
static double common(const sizes *s, const blocks *b)
{
	double sum = 0, most = 0, mean = 1, ngroups = 0;
	for (int i = 0; i < s->nsizes; i++) {
		double v = 1, cut = 1;
		for (int d = 0; d < s->n; d++) {
			double x = s->at[i].extent[d];
			double least = x < b->most[d] ? x : b->most[d];
			v *= least;
			cut *= s->whole[d] ? 1 : least;
		}
		sum += v * s->at[i].count;
		most = cut > most ? cut : most;
		ngroups += s->at[i].count;
	}
	for (int d = 0; d < s->n; d++)
		mean *= s->whole[d] ? b->mean[d] : 1;
	mean = floor(ngroups * most * mean * (1 + ROUNDING));
	return sum < mean ? sum : mean;
}

/* The number of groups that share the parts of a sum, if the node is divided
 * so. */
static int share_of(const mesh *m, const joint_pair *p, const cuts *c)
{
	return p->inputs ? 1 : layout_sharers(
		m, layout_partial_axes(m, p->kernel, c));
}

/* The number of elements of the tensor that all groups store together. */
static double stored_volume(const box *whole, const mesh *m, const cuts *c)
{
	double v = 1;
	for (int d = 0; d < whole->n; d++)
		v *= (double)whole->hi[d];
	for (int a = 0; a < m->naxes; a++)
		v *= c->dim[a] == CUT_NONE ? m->size[a] : 1;
	return v;
}

/* A lower bound of the elements that groups receive.  At most `both' of them
 * are already stored there; because of rounding, `both' may exceed what is
 * stored. */
static double least_received(const joint_pair *p, const sizes *s, int share,
			     double stored, double both)
{
	double own = s->volume / share;
	double received = p->inputs ? s->volume - both
				    : own * (share - 1) + stored -
					      (both < own ? both : own);
	return received > 0 ? received : 0;
}

static void fill(const mesh *m, const joint_pair *p, int64_t *table)
{
	arena *tmp = arena_new();
	int64_t dims[MAX_NVARS], element;
	int n = joint_sizes(p, dims, &element), nt = p->tensors->n;
	box whole = box_whole(dims, n);
	blocks *b = ARENA_ARRAY(tmp, blocks, nt);
	double *stored = ARENA_ARRAY(tmp, double, nt);
	for (int j = 0; j < nt; j++) {
		b[j] = blocks_of(&whole, m, &p->tensors->at[j]);
		stored[j] = stored_volume(&whole, m, &p->tensors->at[j]);
	}
	for (int i = 0; i < p->nodes->n && joint_is_exact(m, p); i++) {
		const cuts *c = &p->nodes->at[i];
		sizes s = dealt_with(tmp, m, p, &whole, c);
		int share = share_of(m, p, c);
		for (int j = 0; j < nt; j++) {
			double received = least_received(
				p, &s, share, stored[j],
				common(&s, &b[j]));
			*table++ = cost_mul((int64_t)received, element);
		}
	}
	arena_free(tmp);
}

int64_t symmetry_bound(const search *s, const rules *all, int64_t top)
{
	const rules ordered = { .dims = class_dims, .vars = class_vars,
				.state = all, .uniform = all->uniform,
				.now = all->now };
	const mesh *m = &s->result->assignment.mesh;
	solve_limits limits = search_limits(s, 1);
	if (mesh_workers(m) > MOST_GROUPS)
		return -1;
	arena *tmp = arena_new();
	int64_t bound = -1;
	candidate_set w =
		candidates_find(tmp, s->graph, m, &ordered, MAX_CANDIDATES);
	if (w.complete && joint_cells(s->graph, &w) <= MOST_CELLS) {
		problem *p = joint_problem_of(tmp, s->graph, m, &w, fill);
		p->top = top;
		bound = joint_solve(tmp, s->graph, p, NULL, false, &limits)
				.lower_bound;
	}
	arena_free(tmp);
	return bound;
}
