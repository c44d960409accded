/* tdlc coverage: which operators of a model can be divided. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "compiler/driver/coverage.h"
#include "compiler/driver/driver.h"
#include "compiler/onnx/onnx.h"

/* ---- what is counted ---------------------------------------------------- */

static int64_t plus(int64_t x, int64_t y)
{
	int64_t r;
	return ck_add(x, y, &r) ? r : INT64_MAX;
}

static int64_t times(int64_t x, int64_t y)
{
	int64_t r;
	return ck_mul(x, y, &r) ? r : INT64_MAX;
}

static int64_t planned_bytes(const coverage *c, node_id n)
{
	int64_t sum = 0;
	for (int a = 0; a < c->search->assignment.mesh.naxes; a++)
		sum = plus(sum, c->search->node_bytes[n][a]);
	return sum;
}

/* The row of a name; a new one where it is not there. */
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
	row->bytes = plus(row->bytes, planned_bytes(c, n));
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
			times(in, c->devices - 1), times(out, c->devices - 1),
			planned_bytes(c, n)
		};
		vec_push(a, &c->whole, w);
	}
}

/* ---- the command -------------------------------------------------------- */

typedef struct coverage_options {
	int64_t devices;
	cli_words defines, shapes;
	bool json;
} coverage_options;

static cli_status cover(driver *d, coverage *c, const coverage_options *o)
{
	int factors[MAX_AXES + 8];
	c->devices = o->devices;
	int n = mesh_factors((int)c->devices, factors);
	c->parts = factors[n - 1];
	if (graph_traffic(c->graph) > INT64_MAX / 4 / o->devices) {
		diag_error_in(d->sink, DIAG_MODEL_TOO_LARGE, c->graph->name,
			      "%d devices might move more than 2^61 bytes",
			      (int)o->devices);
		return CLI_OK;
	}
	c->search = search_plan(d->arena, c->graph, (int)o->devices, "tofu");
	count_nodes(d->arena, c);
	list_whole(d->arena, c);
	if (o->json)
		return driver_print_json(d, coverage_json(c));
	coverage_text(d->arena, c);
	return CLI_OK;
}

cli_status command_coverage(driver *d, int argc, char **argv)
{
	coverage_options o = { .devices = 2 };
	coverage c = { 0 };
	model_options model = { .survey = &c.survey };
	const cli_option options[] = {
		{ CLI_INT, 'k', "devices", "N",
		  "the number of devices for the costs (2)", &o.devices,
		  .min = 2, .max = MESH_MAX_WORKERS },
		{ CLI_REPEAT, 'D', NULL, "NAME=VALUE",
		  "set a symbolic size, or an argument of a TDL model",
		  &o.defines },
		{ CLI_REPEAT, 0, "shape", "NAME=AxB",
		  "replace the shape of an input", &o.shapes },
		DRIVER_OPTION_MODEL(&model.model),
		DRIVER_OPTION_LOAD(d),
		DRIVER_OPTION_JSON(&o.json),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	if (argc - first != 1)
		return cli_usage(&d->program, "one model is expected");
	status = job_model_options(d, argv[first], &o.defines, &o.shapes,
				      &model);
	if (status != CLI_OK)
		return status;
	tdl_modules *m = job_load_needed(d, argv[first]);
	c.graph = m ? model_import(d->arena, m, d->sink, argv[first], &model)
		    : NULL;
	if (!c.graph)
		return CLI_OK;
	status = job_check_used(d, &model);
	return status == CLI_OK ? cover(d, &c, &o) : status;
}
