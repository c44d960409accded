#include "config.h"

#include "libtdl/graph_json.h"

#include "compiler/graph/canonical.h"
#include "compiler/placement/model_costs.h"
/* Arithmetic operations of a node; INT64_MAX if they overflow. */
static int64_t node_flops(const graph *g, node_id n)
{
	graph one = { .nnodes = 1, .nodes = &g->nodes[n] };
	return graph_flops(&one);
}

static const char *kind_name(const tensor *t)
{
	return t->kind == TENSOR_INPUT	    ? "input"
	       : t->kind == TENSOR_CONSTANT ? "constant"
	       : t->kind == TENSOR_STATE    ? t->parameter ? "parameter"
							   : "state"
	       : t->output		    ? "output"
					    : "result";
}

static json_t *tensor_json(const graph *g, const tensor *t)
{
	json_t *shape = json_array();
	for (int d = 0; d < t->type.ndim; d++)
		json_array_append_new(shape, json_integer(t->type.dims[d]));
	json_t *j = json_pack("{s:s, s:s, s:s, s:o, s:I}", "name", t->name,
			      "kind", kind_name(t), "type",
			      dtype_name(t->type.type), "shape", shape, "bytes",
			      (json_int_t)tensor_nbytes(&t->type));
	if (t->kind == TENSOR_STATE)
		json_object_set_new(
			j, "next",
			t->next == NONE
				? json_null()
				: json_string(g->tensors[t->next].name));
	return j;
}

static json_t *names_json(const graph *g, const tensor_id *ids, int n)
{
	json_t *list = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(list,
				      json_string(g->tensors[ids[i]].name));
	return list;
}

static json_t *node_json(const graph *g, node_id i)
{
	const node *n = &g->nodes[i];
	return json_pack("{s:s, s:s, s:o, s:s, s:I}", "name", n->name, "op",
			 n->op, "inputs",
			 names_json(g, n->inputs, n->kernel->ninputs),
			 "output", g->tensors[n->output].name, "flops",
			 (json_int_t)node_flops(g, i));
}

json_t *graph_json(const graph *g)
{
	json_t *tensors = json_array(), *nodes = json_array();
	for (int i = 0; i < g->ntensors; i++)
		json_array_append_new(tensors, tensor_json(g, &g->tensors[i]));
	for (int i = 0; i < g->nnodes; i++)
		json_array_append_new(nodes, node_json(g, i));
	return json_pack("{s:s, s:b, s:i, s:i, s:I, s:I, s:I, s:o, s:o, s:o, "
			 "s:o}", "model", g->name, "train", g->training,
			 "operators", g->nnodes, "tensors", g->ntensors,
			 "parameters", (json_int_t)graph_parameter_nelem(g),
			 "parameters_bytes",
			 (json_int_t)graph_parameter_bytes(g), "flops",
			 (json_int_t)graph_flops(g), "inputs",
			 names_json(g, g->inputs, g->ninputs), "outputs",
			 names_json(g, g->outputs, g->noutputs),
			 "tensor_list", tensors, "nodes", nodes);
}

json_t *model_costs_json(job *d, const graph *g, const char *machine,
			 const char *path)
{
	const topology *t = machine ? topology_read(d->arena, d->sink, machine)
				    : topology_preset(0);
	const cost_graph *c = t ? cost_graph_of_model(
		d->arena, d->sink, graph_canonical(d->arena, g),
		topology_of(d->arena, t, 1), path) : NULL;
	return c ? cost_graph_json(c, t->name) : NULL;
}
