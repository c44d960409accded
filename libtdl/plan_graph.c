#include "config.h"

#include "libtdl/plan_graph.h"

#include <string.h>

static tensor tensor_of(const plan_tensor *t)
{
	static const tensor_kind kinds[] = {
		[PLAN_INPUT] = TENSOR_INPUT,
		[PLAN_CONSTANT] = TENSOR_CONSTANT,
		[PLAN_RESULT] = TENSOR_RESULT,
		[PLAN_STATE] = TENSOR_STATE,
	};
	tensor x = { .name = t->name, .kind = kinds[t->role],
		     .type = { .type = t->type, .ndim = t->ndim },
		     .output = t->output, .producer = NONE, .next = t->next,
		     .gradient_of = NONE };
	memcpy(x.type.dims, t->dims, sizeof(x.type.dims));
	return x;
}

/* Adds a plan's node and its division. */
static void add_node(arena *a, const plan *p, int id, graph *g,
		     assignment *as)
{
	const plan_node *n = &p->nodes[id];
	const kernel *k = p->kernels[n->kernel].kernel;
	node *x = &g->nodes[g->nnodes];
	*x = (node){ .name = n->name, .op = n->op, .kernel = k,
		     .inputs = ARENA_COPY(a, n->inputs, k->ninputs),
		     .output = n->output, .call = id, .forward = NONE,
		     .step = -1, .cell = -1 };
	g->tensors[n->output].producer = g->nnodes;
	as->node_cuts[g->nnodes++] = n->cuts;
}

const graph *plan_graph(arena *a, const plan *p, assignment *as)
{
	graph *g = ARENA_NEW(a, graph);
	*g = (graph){ .name = p->model, .ntensors = p->ntensors,
		      .tensors = ARENA_ARRAY(a, tensor, p->ntensors),
		      .nodes = ARENA_ARRAY(a, node, p->nnodes),
		      .ninputs = p->ninputs, .inputs = p->inputs,
		      .noutputs = p->noutputs, .outputs = p->outputs,
		      .training = p->training, .loss = p->loss,
		      .learning_rate = p->learning_rate,
		      .loss_scale = p->loss_scale,
		      .length = p->length,
		      .position = p->position };
	*as = (assignment){ p->mesh, ARENA_ARRAY(a, cuts, p->ntensors),
			    ARENA_ARRAY(a, cuts, p->nnodes) };
	for (int t = 0; t < p->ntensors; t++) {
		g->tensors[t] = tensor_of(&p->tensors[t]);
		as->tensor_cuts[t] = p->tensors[t].cuts;
	}
	for (int i = 0; i < p->ninstrs; i++)
		if (p->program[i].op == PLAN_RUN)
			add_node(a, p, p->program[i].node, g, as);
	return g;
}
