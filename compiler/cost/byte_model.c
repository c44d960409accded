/* The byte model of search.h, evaluated group by group, as it is defined. */
#include "config.h"

#include "compiler/cost/byte_model.h"

#include "compiler/graph/turns.h"
#include "compiler/solver/problem.h"

uint32_t byte_model_same_inputs(const node *n, int i)
{
	uint32_t same = 0;
	for (int j = 0; j < n->kernel->ninputs; j++)
		if (n->inputs[j] == n->inputs[i])
			same |= UINT32_C(1) << j;
	return same;
}

int64_t byte_model_result(const result_move *r, const box *produced,
			  const box *stored, const int *coords)
{
	if (!r->partial)
		return box_volume_less(stored, produced);
	region own = layout_share(r->mesh, r->partial, r->cuts, produced,
				  coords);
	int others = layout_sharers(r->mesh, r->partial) - 1;
	int64_t away = box_volume(stored) - region_held(&own, stored);
	return cost_add(cost_mul(own.count, others), cost_clamp(away));
}

/* ---- whole nodes ------------------------------------------------------- */

typedef struct group {
	const graph *g;
	const assignment *as;
	mesh mesh; /* the axes counted */
	int coords[MAX_AXES];
	box space; /* computed in this group by the current node */
} group;

static box stored_block(const group *gr, tensor_id t)
{
	const tensor_type *type = &gr->g->tensors[t].type;
	box whole = box_whole(type->dims, type->ndim);
	return cuts_block(&whole, &gr->mesh, &gr->as->tensor_cuts[t],
			  gr->mesh.naxes, gr->coords);
}

static int64_t tensor_bytes(const group *gr, tensor_id t, int64_t nelem)
{
	dtype type = gr->g->tensors[t].type.type;
	return cost_mul(nelem, (int64_t)dtype_size(type));
}

static int64_t input_bytes(const group *gr, const node *n, const cuts *c,
			   int i)
{
	uint32_t same = byte_model_same_inputs(n, i);
	if (__builtin_ctz(same) != i)
		return 0;
	box need = layout_needs(n->kernel, &gr->space, same);
	box have = stored_block(gr, n->inputs[i]);
	if (!layout_fits(&gr->mesh, n->kernel, c, same,
			 &gr->as->tensor_cuts[n->inputs[i]]))
		return COST_MAX;
	uint32_t zeros = layout_zero_axes(&gr->mesh, n->kernel, c, same,
					  &gr->as->tensor_cuts[n->inputs[i]]);
	if (layout_has_zeros(&gr->mesh, zeros, gr->coords))
		return 0;
	return tensor_bytes(gr, n->inputs[i], box_volume_less(&need, &have));
}

static int64_t result_bytes(const group *gr, const node *n, const cuts *c)
{
	const cuts *to = &gr->as->tensor_cuts[n->output];
	result_move r = { &gr->mesh, to,
			  layout_combined_axes(&gr->mesh, n->kernel, c, to) };
	if (!layout_fits(&gr->mesh, n->kernel, c, 0, to))
		return COST_MAX;
	box produced = kernel_produces(n->kernel, &gr->space);
	box stored = stored_block(gr, n->output);
	return tensor_bytes(
		gr, n->output,
		byte_model_result(&r, &produced, &stored, gr->coords));
}

int64_t byte_model_node(const graph *g, const assignment *as, node_id id,
			int naxes)
{
	const node *n = &g->nodes[id];
	const cuts *c = &as->node_cuts[id];
	group gr = { .g = g, .as = as, .mesh = as->mesh };
	box whole = kernel_space(n->kernel);
	int64_t sum = 0;
	gr.mesh.naxes = naxes;
	for (int w = mesh_workers(&gr.mesh) - 1; w >= 0; w--) {
		mesh_coords(&gr.mesh, w, gr.coords);
		gr.space = cuts_block(&whole, &gr.mesh, c, naxes, gr.coords);
		for (int i = 0; i < n->kernel->ninputs; i++)
			sum = cost_add(sum, input_bytes(&gr, n, c, i));
		sum = cost_add(sum, result_bytes(&gr, n, c));
	}
	return cost_mul(sum, graph_runs(g, id));
}

int64_t byte_model_total(const graph *g, const assignment *as, int naxes)
{
	int64_t sum = 0;
	for (node_id n = 0; n < g->nnodes; n++)
		sum = cost_add(sum, byte_model_node(g, as, n, naxes));
	return sum;
}
