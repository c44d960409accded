#include "config.h"

#include "plan/plan.h"

#include <string.h>

#include "base/checked.h"

int64_t plan_tensor_nelem(const plan_tensor *t)
{
	int64_t n = 0;
	bool ok = ck_product(t->dims, t->ndim, &n);
	return ok ? n : 0;
}

int64_t plan_tensor_nbytes(const plan_tensor *t)
{
	return plan_tensor_nelem(t) * (int64_t)dtype_size(t->type);
}

/* ---- launches ---------------------------------------------------------- */

int64_t plan_launch_items(const plan_kernel *k, const box *space)
{
	const plan_launch *l = &k->launch;
	box part = kernel_produces(k->kernel, space);
	int64_t items = 1;
	if (box_volume(&part) == 0)
		return 0;
	for (int i = 0; i < l->ntiles; i++) {
		int v = l->tiles[i].var;
		int64_t n = v < 0 ? box_volume(&part) : part.hi[v] - part.lo[v];
		if (!ck_mul(items, (n - 1) / l->tiles[i].of + 1, &items))
			return INT64_MAX;
	}
	return items;
}

/* ---- regions ----------------------------------------------------------- */

static box space_at(const plan *p, const plan_node *n, const int *coords)
{
	box whole = kernel_space(p->kernels[n->kernel].kernel);
	return cuts_block(&whole, &p->mesh, &n->cuts, p->mesh.naxes, coords);
}

box plan_space(const plan *p, int node, int worker)
{
	int coords[MAX_AXES];
	mesh_coords(&p->mesh, worker, coords);
	return space_at(p, &p->nodes[node], coords);
}

reducer plan_partial(const plan *p, int node, uint32_t *axes)
{
	const plan_node *n = &p->nodes[node];
	const kernel *k = p->kernels[n->kernel].kernel;
	uint32_t cut = 0;
	bool derived = false;
	for (int a = 0; a < p->mesh.naxes; a++) {
		int v = n->cuts.dim[a];
		if (v == CUT_NONE || k->vars[v].kind == KVAR_OUTPUT)
			continue;
		cut |= UINT32_C(1) << a;
		derived = derived || k->vars[v].kind == KVAR_DERIVED;
	}
	if (axes)
		*axes = cut;
	return !cut ? RED_NONE : derived ? RED_SUM : k->reducer;
}

static box needs_at(const plan *p, const plan_buffer *b, const int *coords)
{
	const plan_node *n = &p->nodes[b->node];
	const kernel *k = p->kernels[n->kernel].kernel;
	box space = space_at(p, n, coords);
	box all = box_empty(p->tensors[b->tensor].ndim);
	for (int i = 0; i < k->ninputs; i++) {
		if (n->inputs[i] != b->tensor)
			continue;
		box one = kernel_need(k, &space, i);
		all = box_hull(&all, &one);
	}
	return all;
}

/* The share of what the node produces that these coordinates combine. */
static region own_at(const plan *p, const plan_buffer *b, const int *coords)
{
	const plan_node *n = &p->nodes[b->node];
	const plan_tensor *t = &p->tensors[b->tensor];
	uint32_t axes;
	plan_partial(p, b->node, &axes);
	cuts shared = cuts_none();
	int rank = 0, nranks = 1;
	for (int a = 0; a < p->mesh.naxes; a++) {
		if (!(axes >> a & 1))
			continue;
		shared.dim[a] = t->cuts.dim[a];
		if (t->cuts.dim[a] == CUT_NONE) {
			rank = rank * p->mesh.size[a] + coords[a];
			nranks *= p->mesh.size[a];
		}
	}
	box space = space_at(p, n, coords);
	box all = kernel_produces(p->kernels[n->kernel].kernel, &space);
	region r;
	r.at = cuts_block(&all, &p->mesh, &shared, p->mesh.naxes, coords);
	int64_t last;
	block(0, box_volume(&r.at), rank, nranks, &r.first, &last);
	r.count = last - r.first;
	return r;
}

static region whole_region(box at)
{
	return (region){ at, 0, box_volume(&at) };
}

region plan_region_at(const plan *p, const plan_buffer *b, const int *coords)
{
	const plan_tensor *t = &p->tensors[b->tensor];
	box at;
	switch (b->region) {
	case PLAN_STORED:
		at = box_whole(t->dims, t->ndim);
		return whole_region(cuts_block(&at, &p->mesh, &t->cuts,
					       p->mesh.naxes, coords));
	case PLAN_NEEDS:
		return whole_region(needs_at(p, b, coords));
	case PLAN_PRODUCES:
		at = space_at(p, &p->nodes[b->node], coords);
		return whole_region(kernel_produces(
			p->kernels[p->nodes[b->node].kernel].kernel, &at));
	case PLAN_REDUCED_SHARD:
		break;
	}
	return own_at(p, b, coords);
}

region plan_region(const plan *p, int buffer, int worker)
{
	int coords[MAX_AXES];
	mesh_coords(&p->mesh, worker, coords);
	return plan_region_at(p, &p->buffers[buffer], coords);
}

/* ---- in place ---------------------------------------------------------- */

/* Whether every read of an input in e is at the result's own index. */
static bool own_index_only(const kexpr *e, int input)
{
	if (e->kind == KX_READ && e->input == input)
		for (int d = 0; d < e->nargs - e->guarded; d++)
			if (e->args[d]->kind != KX_VAR || e->args[d]->var != d)
				return false;
	for (int i = 0; i < e->nargs; i++)
		if (!own_index_only(e->args[i], input))
			return false;
	return true;
}

bool kernel_in_place(const kernel *k, int input)
{
	const kinput *in = &k->inputs[input];
	if (!k->body || k->reducer != RED_NONE || k->nderived > 0 ||
	    in->type != k->type || in->ndim != k->nout)
		return false;
	for (int d = 0; d < k->nout; d++)
		if (in->dims[d] != kernel_dim(k, d))
			return false;
	return own_index_only(k->body, input);
}
