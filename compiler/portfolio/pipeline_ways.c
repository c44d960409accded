#include "config.h"

#include "compiler/portfolio/pipeline_ways.h"

#include <string.h>

#include "compiler/portfolio/auto.h"
#include "compiler/portfolio/one_planner.h"

const pipeline_inside pipeline_insides[PIPELINE_INSIDES] = {
	{ "megatron", { 0 } },
	{ "megatron", { .sequence_parallel = true } },
	{ "levels", { 0 } },
	{ "tofu", { 0 } },
};
const pipeline_inside *const pipeline_any_inside =
	&pipeline_insides[PIPELINE_INSIDES - 1];

bool pipeline_way_equal(const pipeline_way *x, const pipeline_way *y)
{
	return x->devices == y->devices && x->replicas == y->replicas &&
	       x->sharded == y->sharded &&
	       !strcmp(x->algorithm, y->algorithm) &&
	       x->variant.sequence_parallel == y->variant.sequence_parallel &&
	       x->variant.at_once == y->variant.at_once;
}

bool pipeline_way_shards(const graph *g, int replicas)
{
	for (tensor_id t = 0; replicas > 1 && t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		if (g->training && x->kind == TENSOR_STATE && !x->parameter &&
		    x->next != NONE && x->type.ndim > 0)
			return true;
	}
	return false;
}

int pipeline_way_axes(const topology *t, const pipeline_way *way)
{
	mesh all, inner;
	int n = 0, replicas = 1;
	if (!topology_mesh(t, way->devices, &all) ||
	    !topology_mesh(t, way->devices / way->replicas, &inner))
		return -1;
	while (n < all.naxes && replicas < way->replicas)
		replicas *= all.size[n++];
	if (replicas != way->replicas || all.naxes - n != inner.naxes)
		return -1;
	for (int i = 0; i < inner.naxes; i++)
		if (all.size[n + i] != inner.size[i])
			return -1;
	return n;
}

/* Whether devices [begin, end) fill levels of the machine, or are a part of
 * one. */
bool pipeline_is_aligned(const topology *t, int begin, int end)
{
	int64_t span = 1;
	for (int i = t->nlevels; i-- > 0 && t->levels[i].size;) {
		span *= t->levels[i].size;
		bool inside = begin / span == (end - 1) / span;
		if (!inside && (begin % span || end % span))
			return false;
	}
	return true;
}

/* The layouts within a replica; NULL when errors were added. */
static const search_result *search_inside(const plan_request *how,
					  const graph *g,
					  const pipeline_way *way)
{
	plan_request one = *how;
	plan_result r;
	search_request q;
	one.graph = g;
	one.k = way->devices / way->replicas;
	one.algorithm = way->algorithm;
	one.variant = way->variant;
	const lower_options lower = { .algorithm = way->algorithm };
	if (!strcmp(way->algorithm, PLAN_AUTO))
		return plan_auto(&one, &lower, NULL, 0, &r) ? r.search : NULL;
	return plan_search_request(&one, &q)
		       ? search_plan_for(how->arena, g, &q) : NULL;
}

static const search_result *search_replicas(const plan_request *how,
					    const graph *g, const mesh *all,
					    int naxes, bool sharded)
{
	search_request q = { .algorithm = "data-parallel",
			     .topology = how->topology,
			     .mesh = *all,
			     .variant.sharded = sharded };
	q.mesh.naxes = naxes;
	return search_plan_for(how->arena, g, &q);
}

/* The first n axes of x, followed by all axes of y. */
static cuts *joined(arena *a, const cuts *x, int n, const cuts *y, int m,
		    int count)
{
	cuts *all = ARENA_COPY(a, x, count);
	for (int i = 0; i < count; i++)
		for (int j = 0; j < m; j++)
			all[i].dim[n + j] = y[i].dim[j];
	return all;
}

/* Whether an extent has at least as many elements as axes cut it into parts. */
static bool has_parts(const mesh *m, const cuts *c, int d, int64_t extent)
{
	int64_t parts = 1;
	for (int i = 0; i < m->naxes; i++)
		parts *= c->dim[i] == d ? m->size[i] : 1;
	return parts == 1 || parts <= extent;
}

/* Removes axes of a replica, which come after the first n, from the last one
 * on, where together with the replicas they cut an extent into more parts than
 * it has elements.  The replica's planner did not consider the division by
 * replicas.  Axes along which `result' is partial are kept, unless it is
 * NULL. */
static void drop_excess(const mesh *m, int n, cuts *c, int d, int64_t extent,
			const cuts *result)
{
	for (int i = m->naxes; i-- > n && !has_parts(m, c, d, extent);)
		if (c->dim[i] == d && (!result || result->dim[i] >= CUT_NONE))
			c->dim[i] = CUT_NONE;
}

/* Removes such axes everywhere: a tensor is replicated along them, and a node
 * is computed by all devices along them. */
static void drop_all_excess(const graph *g, assignment *as, int n)
{
	for (tensor_id t = 0; t < g->ntensors; t++)
		for (int d = 0; d < g->tensors[t].type.ndim; d++)
			drop_excess(&as->mesh, n, &as->tensor_cuts[t], d,
				    g->tensors[t].type.dims[d], NULL);
	for (node_id i = 0; i < g->nnodes; i++) {
		const node *of = &g->nodes[i];
		for (int v = 0; v < of->kernel->nvars; v++)
			drop_excess(&as->mesh, n, &as->node_cuts[i], v,
				    of->kernel->vars[v].extent,
				    &as->tensor_cuts[of->output]);
	}
}

/* Whether everything can be cut as replicas and their layouts require
 * together. */
static bool can_be_cut(const graph *g, const assignment *as)
{
	for (tensor_id t = 0; t < g->ntensors; t++)
		for (int d = 0; d < g->tensors[t].type.ndim; d++)
			if (!has_parts(&as->mesh, &as->tensor_cuts[t], d,
				       g->tensors[t].type.dims[d]))
				return false;
	for (node_id n = 0; n < g->nnodes; n++)
		for (int v = 0; v < g->nodes[n].kernel->nvars; v++)
			if (!has_parts(&as->mesh, &as->node_cuts[n], v,
				       g->nodes[n].kernel->vars[v].extent))
				return false;
	return true;
}

static const search_result *too_large(arena *a, const pipeline_way *way)
{
	search_result *s = ARENA_NEW(a, search_result);
	s->algorithm = way->algorithm;
	s->error = arena_printf(a, "%d devices might move more than 2^61 bytes",
				way->devices);
	return s;
}

const search_result *pipeline_way_inside(const plan_request *how,
					 const graph *g,
					 const pipeline_way *way)
{
	return graph_is_countable(g, way->devices)
		       ? search_inside(how, g, way)
		       : too_large(how->arena, way);
}

const search_result *pipeline_way_with(const plan_request *how, const graph *g,
				       const pipeline_way *way,
				       const search_result *in)
{
	arena *a = how->arena;
	int n = pipeline_way_axes(how->topology, way);
	assignment as;
	if (!graph_is_countable(g, way->devices))
		return too_large(a, way);
	if (!in || in->error || n == 0)
		return in;
	topology_mesh(how->topology, way->devices, &as.mesh);
	const search_result *out = search_replicas(how, g, &as.mesh, n,
						   way->sharded);
	if (out->error)
		return out;
	const assignment *x = &out->assignment, *y = &in->assignment;
	int m = as.mesh.naxes - n;
	as.tensor_cuts = joined(a, x->tensor_cuts, n, y->tensor_cuts, m,
				g->ntensors);
	as.node_cuts = joined(a, x->node_cuts, n, y->node_cuts, m, g->nnodes);
	drop_all_excess(g, &as, n);
	search_result *both = search_evaluate(a, g, &as, way->algorithm);
	if (!can_be_cut(g, &as))
		both->error = "replicas, and the devices of each, cut "
			      "something into more parts than it has elements";
	return both;
}

const search_result *pipeline_way_search(const plan_request *how,
					 const graph *g,
					 const pipeline_way *way)
{
	return pipeline_way_with(how, g, way,
				 pipeline_way_inside(how, g, way));
}
