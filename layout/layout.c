#include "config.h"

#include "layout/layout.h"

#include "layout/product.h"

/* ---- partial results --------------------------------------------------- */

reducer layout_axis_reducer(const kernel *k, int dim)
{
	const kpassing *p = cut_passed(k, dim);
	if (p)
		return p->to;
	if (dim == CUT_NONE || k->vars[dim].kind == KVAR_OUTPUT)
		return RED_NONE;
	return k->vars[dim].kind == KVAR_DERIVED ? RED_SUM : k->reducer;
}

uint32_t layout_partial_axes(const mesh *m, const kernel *k, const cuts *c)
{
	uint32_t axes = 0;
	for (int a = 0; a < m->naxes; a++)
		if (layout_axis_reducer(k, c->dim[a]) != RED_NONE)
			axes |= UINT32_C(1) << a;
	return axes;
}

uint32_t layout_combined_axes(const mesh *m, const kernel *k,
			      const cuts *space, const cuts *stored)
{
	return layout_partial_axes(m, k, space) &
	       ~cuts_partial(stored, m->naxes);
}

/* Whether the result of a kernel along an axis can be stored as `stored'. */
static bool gives(const kernel *k, int space, int stored)
{
	return stored >= CUT_NONE ||
	       cut_reducer(stored) == layout_axis_reducer(k, space);
}

bool layout_serves(reducer by)
{
	return by == RED_SUM || reducer_choice(by) != FN_NO_CHOICE;
}

/* Whether a kernel can read what is stored through the inputs. */
static bool takes(const kernel *k, int space, uint32_t inputs, int stored)
{
	const kpassing *p = cut_passed(k, space);
	uint32_t partial = p ? p->inputs & inputs : 0;
	if (partial == 0)
		return stored >= CUT_NONE;
	return partial == inputs &&
	       (stored == CUT_NONE ? layout_serves(p->by)
				   : p->by == cut_reducer(stored));
}

bool layout_fits(const mesh *m, const kernel *k, const cuts *space,
		 uint32_t inputs, const cuts *stored)
{
	for (int a = 0; a < m->naxes; a++)
		if (!(inputs ? takes(k, space->dim[a], inputs, stored->dim[a])
			     : gives(k, space->dim[a], stored->dim[a])))
			return false;
	return true;
}

uint32_t layout_zero_axes(const mesh *m, const kernel *k, const cuts *space,
			  uint32_t inputs, const cuts *stored)
{
	uint32_t axes = 0;
	for (int a = 0; a < m->naxes; a++) {
		const kpassing *p = cut_passed(k, space->dim[a]);
		if (p && p->by == RED_SUM && (p->inputs & inputs) &&
		    stored->dim[a] == CUT_NONE)
			axes |= UINT32_C(1) << a;
	}
	return axes;
}

int layout_zero_share(const mesh *m, const kernel *k, const cuts *space,
		      uint32_t inputs, const cuts *stored)
{
	return layout_sharers(m,
			      layout_zero_axes(m, k, space, inputs, stored));
}

bool layout_has_zeros(const mesh *m, uint32_t axes, const int *coords)
{
	for (int a = 0; a < m->naxes; a++)
		if ((axes >> a & 1) && coords[a] > 0)
			return true;
	return false;
}

reducer layout_reducer(const mesh *m, const kernel *k, const cuts *c)
{
	reducer r = RED_NONE;
	for (int a = 0; a < m->naxes && r == RED_NONE; a++)
		r = layout_axis_reducer(k, c->dim[a]);
	return r;
}

int layout_sharers(const mesh *m, uint32_t axes)
{
	int n = 1;
	for (int a = 0; a < m->naxes; a++)
		if (axes >> a & 1)
			n *= m->size[a];
	return n;
}

region layout_share(const mesh *m, uint32_t partial, const cuts *c,
		    const box *produced, const int *coords)
{
	cuts shared = cuts_none();
	int rank = 0, nranks = 1;
	for (int a = 0; a < m->naxes; a++) {
		if (!(partial >> a & 1))
			continue;
		shared.dim[a] = c->dim[a];
		if (c->dim[a] == CUT_NONE) {
			rank = rank * m->size[a] + coords[a];
			nranks *= m->size[a];
		}
	}
	region r = { cuts_block(produced, m, &shared, m->naxes, coords), 0, 0 };
	int64_t last;
	block(0, box_volume(&r.at), rank, nranks, &r.first, &last);
	r.count = last - r.first;
	return r;
}

/* ---- regions ----------------------------------------------------------- */

box layout_needs(const kernel *k, const box *space, uint32_t inputs)
{
	int first = __builtin_ctz(inputs);
	box all = kernel_need(k, space, first);
	for (int i = first + 1; i < k->ninputs; i++) {
		if (!(inputs >> i & 1))
			continue;
		box one = kernel_need(k, space, i);
		all = box_hull(&all, &one);
	}
	return all;
}

layout_turn layout_turn_of(int64_t batch, int n, int i)
{
	layout_turn t = { .batch = batch };
	block(0, batch, i, n, &t.begin, &t.end);
	return t;
}

void layout_turn_cut(const layout_turn *t, int d, box *b)
{
	int64_t each = b->hi[d] / t->batch;
	b->lo[d] = t->begin * each;
	b->hi[d] = t->end * each;
}

box layout_whole(const layout *l)
{
	box b = box_whole(l->dims, l->ndim);
	if (l->turn.batch > 0 && l->tensor_time != CUT_NONE)
		layout_turn_cut(&l->turn, l->tensor_time, &b);
	return b;
}

box layout_space(const layout *l)
{
	box b = kernel_space(l->kernel);
	if (l->turn.batch > 0 && l->space_time != CUT_NONE)
		layout_turn_cut(&l->turn, l->space_time, &b);
	return b;
}

static region whole_region(box at)
{
	return (region){ at, 0, box_volume(&at) };
}

static box space_of(const layout *l, const mesh *m, const int *coords)
{
	box whole = layout_space(l);
	return cuts_block(&whole, m, l->space, m->naxes, coords);
}

static region stored(const layout *l, const mesh *m, const int *coords)
{
	box whole = layout_whole(l);
	return whole_region(cuts_block(&whole, m, l->cuts, m->naxes, coords));
}

static region needs(const layout *l, const mesh *m, const int *coords)
{
	box space = space_of(l, m, coords);
	return whole_region(l->inputs ? layout_needs(l->kernel, &space,
						     l->inputs)
				      : box_empty(l->ndim));
}

region layout_region(const layout *l, const mesh *m, const int *coords)
{
	if (l->kind == LAYOUT_STORED)
		return stored(l, m, coords);
	if (l->kind == LAYOUT_NEEDS)
		return needs(l, m, coords);
	box space = space_of(l, m, coords);
	box made = kernel_produces(l->kernel, &space);
	if (l->kind == LAYOUT_PRODUCES)
		return whole_region(made);
	uint32_t partial = layout_combined_axes(m, l->kernel, l->space,
						l->cuts);
	return layout_share(m, partial, l->cuts, &made, coords);
}

region layout_region_of(const layout *l, const mesh *m, int worker)
{
	int coords[MAX_AXES];
	mesh_coords(m, worker, coords);
	return layout_region(l, m, coords);
}

int64_t region_held(const region *r, const box *want)
{
	box both = box_intersect(&r->at, want);
	if (box_is_empty(&both))
		return 0;
	return box_count_before(&r->at, &both, r->first + r->count) -
	       box_count_before(&r->at, &both, r->first);
}

/* ---- all workers ------------------------------------------------------- */

uint32_t layout_axes(const layout *l, const mesh *m)
{
	bool tensor = l->kind == LAYOUT_STORED ||
		      l->kind == LAYOUT_REDUCED_SHARD;
	bool space = l->kind != LAYOUT_STORED;
	uint32_t axes = 0, shared = 0;
	if (l->kind == LAYOUT_REDUCED_SHARD)
		shared = layout_combined_axes(m, l->kernel, l->space, l->cuts);
	for (int a = 0; a < m->naxes; a++)
		if ((space && l->space->dim[a] >= 0) ||
		    (tensor && l->cuts->dim[a] >= 0) ||
		    (shared >> a & 1))
			axes |= UINT32_C(1) << a;
	return axes;
}

bool mesh_next(const mesh *m, uint32_t axes, int *coords)
{
	for (int a = m->naxes - 1; a >= 0; a--) {
		if (!(axes >> a & 1))
			continue;
		if (++coords[a] < m->size[a])
			return true;
		coords[a] = 0;
	}
	return false;
}

/* The number of elements of all workers, and the most of any. */
static void count_elements(const layout *l, const mesh *m, int64_t *sum,
			   int64_t *most)
{
	uint32_t axes = layout_axes(l, m);
	int coords[MAX_AXES] = { 0 };
	arena *tmp = arena_new();
	const product *p = product_of(tmp, l, m);
	bool known = p && product_elements(p, sum, most);
	arena_free(tmp);
	if (known)
		return;
	*sum = *most = 0;
	do {
		int64_t n = layout_region(l, m, coords).count;
		*sum += n;
		*most = n > *most ? n : *most;
	} while (mesh_next(m, axes, coords));
	*sum *= mesh_workers(m) / layout_sharers(m, axes);
}

int64_t layout_elements(const layout *l, const mesh *m)
{
	int64_t sum, most;
	count_elements(l, m, &sum, &most);
	return sum;
}

int64_t layout_most_bytes(const layout *l, const mesh *m)
{
	int64_t sum, most;
	count_elements(l, m, &sum, &most);
	return most * (int64_t)dtype_size(l->type);
}
