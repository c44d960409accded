#include "config.h"

#include "libtdl/coverage.h"

#include <string.h>

#include "base/checked.h"
#include "compiler/onnx/onnx.h"

/* ---- what is counted ---------------------------------------------------- */

static int64_t planned_bytes(const coverage *c, node_id n)
{
	int64_t sum = 0;
	for (int a = 0; a < c->search->assignment.mesh.naxes; a++)
		sum = saturated_add(sum, c->search->node_bytes[n][a]);
	return sum;
}

/* The row with a name, added if there is none. */
static coverage_row *row_of(arena *a, coverage_rows *rows, strmap *index,
			    const char *name)
{
	int *i = strmap_get(index, name);
	if (!i) {
		i = ARENA_NEW(a, int);
		*i = rows->n;
		vec_push(a, rows, (coverage_row){ .name = name });
		strmap_put(index, name, i);
	}
	return &rows->at[*i];
}

static void add_name(arena *a, coverage_names *names, const char *name)
{
	for (int i = 0; i < names->n; i++)
		if (!strcmp(names->at[i], name))
			return;
	vec_push(a, names, name);
}

static void count_node(arena *a, const coverage *c, node_id n,
		       coverage_row *row, const char *other)
{
	const kernel *k = c->graph->nodes[n].kernel;
	row->operators++;
	row->whole += node_is_whole(k, c->parts);
	row->bytes = saturated_add(row->bytes, planned_bytes(c, n));
	if (other)
		add_name(a, &row->others, other);
	for (int v = 0; v < k->nvars; v++)
		if (strategy_offered(k, v, NULL))
			add_name(a, &row->strategies, k->vars[v].name);
}

static void count_nodes(arena *a, coverage *c)
{
	strmap *ops = strmap_new(a), *kinds = strmap_new(a);
	for (int i = 0; i < c->survey.kinds.n; i++) {
		const survey_kind *k = &c->survey.kinds.at[i];
		coverage_row *row = row_of(a, &c->kinds, kinds, k->op);
		row->nodes = k->nodes;
		row->unsupported = k->unsupported;
		row->unknown = k->unknown;
	}
	for (node_id n = 0; n < c->graph->nnodes; n++) {
		const node *x = &c->graph->nodes[n];
		count_node(a, c, n, row_of(a, &c->ops, ops, x->op), x->origin);
		if (x->origin)
			count_node(a, c, n, row_of(a, &c->kinds, kinds,
						   x->origin), x->op);
	}
}

/* ---- what is whole ------------------------------------------------------ */

static int64_t node_input_bytes(const graph *g, node_id n)
{
	const node *x = &g->nodes[n];
	int64_t sum = 0;
	for (int i = 0; i < x->kernel->ninputs; i++) {
		bool again = false;
		for (int j = 0; j < i; j++)
			again |= x->inputs[j] == x->inputs[i];
		const tensor *t = &g->tensors[x->inputs[i]];
		sum += again ? 0 : tensor_nbytes(&t->type);
	}
	return sum;
}

static void list_whole(arena *a, coverage *c)
{
	const graph *g = c->graph;
	for (node_id n = 0; n < g->nnodes; n++) {
		const node *x = &g->nodes[n];
		if (!node_is_whole(x->kernel, c->parts))
			continue;
		int64_t in = node_input_bytes(g, n);
		int64_t out = tensor_nbytes(&g->tensors[x->output].type);
		coverage_whole w = {
			x, node_whole_reasons(a, x->kernel),
			saturated_mul(in, c->devices - 1),
			saturated_mul(out, c->devices - 1), planned_bytes(c, n)
		};
		vec_push(a, &c->whole, w);
	}
}

/* ---- all of it ---------------------------------------------------------- */

/* The graph of the model as far as it is supported, with its survey. */
static const graph *read_surveyed(job *d, const char *path,
				  const coverage_request *r, coverage *c,
				  cli_status *status)
{
	model_options o = { .model = r->model.name, .survey = &c->survey };
	*status = job_model_options(d, path, &r->model.defines,
				    &r->model.shapes, &o);
	if (*status != CLI_OK)
		return NULL;
	tdl_modules *m = job_load_needed(d, path);
	const graph *g =
		m ? model_import(d->arena, m, d->sink, path, &o) : NULL;
	*status = g ? job_check_used(d, &o) : CLI_OK;
	return *status == CLI_OK ? g : NULL;
}

const coverage *coverage_of(job *d, const char *path,
			    const coverage_request *r, cli_status *status)
{
	int factors[MAX_AXES + 8];
	coverage *c = ARENA_NEW(d->arena, coverage);
	c->devices = r->devices;
	c->parts = factors[mesh_factors((int)c->devices, factors) - 1];
	c->graph = read_surveyed(d, path, r, c, status);
	if (!c->graph)
		return NULL;
	if (!graph_is_countable(c->graph, c->devices)) {
		diag_error_in(d->sink, DIAG_MODEL_TOO_LARGE, c->graph->name,
			      "%d devices might move more than 2^61 bytes",
			      (int)c->devices);
		return NULL;
	}
	c->search = search_plan(d->arena, c->graph, (int)c->devices, "tofu");
	count_nodes(d->arena, c);
	list_whole(d->arena, c);
	return c;
}

/* ---- JSON --------------------------------------------------------------- */

static json_t *names_json(const coverage_names *names)
{
	json_t *all = json_array();
	for (int i = 0; i < names->n; i++)
		json_array_append_new(all, json_string(names->at[i]));
	return all;
}

static json_t *rows_json(const coverage_rows *rows, bool of_model)
{
	json_t *all = json_array();
	for (int i = 0; i < rows->n; i++) {
		const coverage_row *r = &rows->at[i];
		json_t *j = json_pack("{s:s}", "op", r->name);
		if (of_model)
			json_object_update_new(j, json_pack(
				"{s:i, s:i, s:i}", "nodes", r->nodes,
				"unsupported", r->unsupported, "unknown",
				r->unknown));
		json_object_update_new(j, json_pack(
			"{s:i, s:i, s:I, s:o, s:o}", "operators", r->operators,
			"whole", r->whole, "bytes", (json_int_t)r->bytes,
			"strategies", names_json(&r->strategies),
			of_model ? "becomes" : "onnx",
			names_json(&r->others)));
		json_array_append_new(all, j);
	}
	return all;
}

static json_t *whole_json(const coverage *c)
{
	json_t *all = json_array();
	for (int i = 0; i < c->whole.n; i++) {
		const coverage_whole *w = &c->whole.at[i];
		const node *n = w->node;
		json_array_append_new(all, json_pack(
			"{s:s, s:s, s:s?, s:s?, s:s, s:I, s:I, s:I}", "name",
			n->name, "op", n->op, "onnx", n->origin, "opaque",
			n->kernel->opaque, "reason", w->why, "fetched_bytes",
			(json_int_t)w->fetched, "repeated_bytes",
			(json_int_t)w->repeated, "bytes",
			(json_int_t)w->bytes));
	}
	return all;
}

static json_t *unsupported_json(const coverage *c)
{
	json_t *all = json_array();
	for (int i = 0; i < c->survey.unsupported.n; i++) {
		const survey_node *n = &c->survey.unsupported.at[i];
		json_array_append_new(all, json_pack(
			"{s:s, s:s, s:s, s:I, s:I}", "name", n->name, "onnx",
			n->op, "reason", n->why, "input_bytes",
			(json_int_t)n->input_bytes, "output_bytes",
			(json_int_t)n->output_bytes));
	}
	return all;
}

json_t *coverage_json(const coverage *c)
{
	return json_pack("{s:s, s:I, s:i, s:i, s:i, s:I, s:o, s:o, s:o, s:o}",
			 "model", c->graph->name, "devices",
			 (json_int_t)c->devices, "operators",
			 c->graph->nnodes, "whole", c->whole.n, "unsupported",
			 c->survey.unsupported.n, "bytes",
			 (json_int_t)c->search->total, "by_operator",
			 rows_json(&c->ops, false), "by_onnx",
			 rows_json(&c->kinds, true), "whole_operators",
			 whole_json(c), "unsupported_nodes",
			 unsupported_json(c));
}
