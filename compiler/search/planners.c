#include "config.h"

#include "compiler/search/planner.h"

#include <inttypes.h>
#include <string.h>

static const planner *const planners[] = {
	&planner_tofu,
	&planner_data_parallel,
	&planner_allrow,
};

enum { NPLANNERS = sizeof(planners) / sizeof(planners[0]) };

const planner *planner_at(int i)
{
	return i >= 0 && i < NPLANNERS ? planners[i] : NULL;
}

const planner *planner_find(const char *name)
{
	for (int i = 0; i < NPLANNERS; i++)
		if (!strcmp(planners[i]->name, name))
			return planners[i];
	return NULL;
}

bool planner_whole(const cuts *c, const mesh *m)
{
	for (int a = 0; a < m->naxes; a++)
		if (c->dim[a] == CUT_NONE)
			return true;
	return false;
}

static int64_t nbytes(const tensor_type *t)
{
	int64_t n = (int64_t)dtype_size(t->type);
	for (int d = 0; d < t->ndim; d++)
		n = cost_mul(n, t->dims[d]);
	return n;
}

const char *planner_note_whole(arena *a, const graph *g,
			       const search_result *r)
{
	const assignment *as = &r->assignment;
	int ntensors = 0, nnodes = 0;
	int64_t bytes = 0;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		if (!planner_whole(&as->tensor_cuts[t], &as->mesh))
			continue;
		ntensors++;
		bytes = cost_add(bytes, nbytes(&g->tensors[t].type));
	}
	for (node_id n = 0; n < g->nnodes; n++)
		nnodes += planner_whole(&as->node_cuts[n], &as->mesh);
	if (!ntensors && !nnodes)
		return NULL;
	return arena_printf(a, "%d of %d tensors (%" PRId64 " bytes in all) "
			    "and %d of %d operators cannot be cut over all %d "
			    "devices", ntensors, g->ntensors, bytes, nnodes,
			    g->nnodes, mesh_workers(&as->mesh));
}
