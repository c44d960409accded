#include "config.h"

#include "compiler/placement/cost_graph.h"

#include <stdlib.h>

static json_t *id_of(const cost_graph *g, int op)
{
	return json_integer(strtoll(g->ops[op].id, NULL, 10));
}

static void set_program(json_t *j, const cost_graph *g, const cost_op *op)
{
	if (op->step > 0)
		json_object_set_new(j, "step", json_integer(op->step));
	if (op->over > 0)
		json_object_set_new(j, "overId", id_of(g, op->over - 1));
	else if (op->over == COST_OVER_STATE)
		json_object_set_new(j, "overState", json_integer(1));
	if (op->constant)
		json_object_set_new(j, "constant", json_integer(1));
	if (op->output)
		json_object_set_new(j, "output", json_integer(1));
}

static json_t *node_json(const cost_graph *g, int v)
{
	const cost_op *op = &g->ops[v];
	json_t *j = json_pack("{s:o, s:s, s:f, s:I, s:i, s:i, s:i}", "id",
			      id_of(g, v), "name", op->name, "fpgaLatency",
			      op->ms, "size", (json_int_t)op->resident_nbytes,
			      "isBackwardNode", op->backward,
			      "supportedOnFpga", 1, "colorClass", op->colour);
	if (op->gradient_nbytes > 0)
		json_object_set_new(j, "gradientSize",
				    json_integer(op->gradient_nbytes));
	if (op->once)
		json_object_set_new(j, "oncePerStep", json_integer(1));
	if (op->mirror >= 0)
		json_object_set_new(j, "forwardId", id_of(g, op->mirror));
	set_program(j, g, op);
	return j;
}

json_t *cost_graph_json(const cost_graph *g, const char *machine)
{
	json_t *nodes = json_array(), *results = json_array();
	json_t *edges = json_array();
	for (int v = 0; v < g->nops; v++) {
		json_array_append_new(nodes, node_json(g, v));
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++) {
			const cost_result *x = &g->results[g->succ[e].result];
			json_array_append_new(edges, json_pack(
				"{s:o, s:o, s:f, s:f}", "sourceId", id_of(g, v),
				"destId", id_of(g, g->succ[e].op), "cost",
				x->ms, "size", x->bytes));
		}
	}
	for (int r = 0; r < g->nresults; r++)
		json_array_append_new(results, json_pack(
			"{s:o, s:f, s:f}", "id",
			id_of(g, g->results[r].producer), "cost",
			g->results[r].ms, "size", g->results[r].bytes));
	json_t *j = json_pack("{s:s, s:i, s:s, s:s, s:i, s:o, s:o, s:o}",
			      "format", "tdl-costs", "version", 1, "graph",
			      g->name, "machine", machine, "maxCPUs", 0,
			      "nodes", nodes, "results", results, "edges",
			      edges);
	if (g->memory_nbytes >= 0)
		json_object_set_new(j, "maxSizePerFPGA",
				    json_integer(g->memory_nbytes));
	return j;
}
