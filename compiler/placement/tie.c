/* Makes layer training graphs of dnn-partitioning executable. */
#include "config.h"

#include "compiler/placement/cost_graph.h"

/* Copies the operators, with only the results of the forward pass. */
static bool copy_ops(const cost_graph *g, cost_builder *b)
{
	for (int v = 0; v < g->nops; v++) {
		const cost_op *op = &g->ops[v];
		const cost_result *x = &g->results[g->first_result[v]];
		if (cost_builder_op(b, op) < 0)
			return false;
		if (op->backward)
			cost_builder_result(b, v, 0, 0);
		else
			cost_builder_result(b, v, x->bytes, x->ms);
	}
	return true;
}

static bool copy_edges(const cost_graph *g, cost_builder *b, int u)
{
	bool backward = g->ops[u].backward;
	for (int i = g->first_succ[u]; i < g->first_succ[u + 1]; i++) {
		const cost_result *x = &g->results[g->succ[i].result];
		int v = g->succ[i].op;
		if (!(backward ? cost_builder_own(b, v, u, x->bytes, x->ms) :
				 cost_builder_edge(b, u, v)))
			return false;
	}
	return backward || cost_builder_edge(b, u, g->ops[u].mirror);
}

static bool has_partners(diag_sink *s, const cost_graph *g)
{
	for (int v = 0; v < g->nops; v++) {
		const cost_op *op = &g->ops[v];
		if (op->backward || op->mirror >= 0)
			continue;
		diag_error_in(s, DIAG_COST_GRAPH_INVALID, g->path,
			      "no edge leads from the forward to the backward "
			      "pass, and forward node %s has no backward node "
			      "of its 'colorClass'", op->id);
		return false;
	}
	return true;
}

const cost_graph *cost_graph_tie_training(arena *a, diag_sink *s,
					  const cost_graph *g)
{
	if (!g->mirrored)
		return g;
	cost_builder *b = cost_builder_new(a, s, g->path);
	if (!has_partners(s, g) || !copy_ops(g, b))
		return NULL;
	for (int u = 0; u < g->nops; u++)
		if (!copy_edges(g, b, u))
			return NULL;
	cost_graph *t = cost_builder_finish(b, g->format);
	if (!t)
		return NULL;
	t->file = g;
	t->integer_ids = g->integer_ids;
	t->resident_has_results = g->resident_has_results;
	t->accelerators = g->accelerators;
	t->cores = g->cores;
	t->memory_nbytes = g->memory_nbytes;
	diag_warning_in(s, DIAG_COST_GRAPH_REPAIRED, g->path,
			"the edges of the backward pass have the direction of "
			"the forward ones, and none connects the passes; they "
			"are reversed, and each backward node reads its "
			"forward node's result");
	return t;
}
