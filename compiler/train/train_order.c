/* The order of a model's nodes and tensors that follows from what they compute.
 * Sums over several of them are added up in this order, so the order of the
 * model's statements has no effect. */
#include "config.h"

#include "compiler/train/trainer.h"

/* The graph so far, as far as the order depends on it. */
static graph graph_so_far(const graph_builder *b)
{
	graph g = { .ntensors = b->tensors.n, .nnodes = b->nodes.n };
	g.tensors = ARENA_ARRAY(b->tmp, tensor, g.ntensors + 1);
	g.nodes = ARENA_ARRAY(b->tmp, node, g.nnodes + 1);
	for (tensor_id t = 0; t < g.ntensors; t++) {
		g.tensors[t] = b->tensors.at[t]->t;
		g.tensors[t].producer = b->tensors.at[t]->node;
	}
	for (node_id n = 0; n < g.nnodes; n++) {
		const built_node *x = &b->nodes.at[n];
		g.nodes[n] = (node){ .kernel = x->kernel, .inputs = x->inputs,
				     .output = x->output };
	}
	return g;
}

void train_find_order(trainer *t)
{
	const graph g = graph_so_far(t->b);
	t->order = graph_canonical_numbers(t->b->tmp, &g);
}
