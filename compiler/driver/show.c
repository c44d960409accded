/* tdlc show: the operators and tensors of a model; a plan (show_plan.c). */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/intern.h"
#include "base/text.h"
#include "base/units.h"
#include "compiler/driver/dot.h"
#include "compiler/driver/plan_print.h"
#include "compiler/driver/show_plan.h"
#include "libtdl/graph_json.h"
#include "libtdl/plan_input.h"

/* Whether it is a state that is not a weight. */
static bool is_kept(const tensor *t)
{
	return t->kind == TENSOR_STATE && !t->parameter;
}

static bool is_trained(const tensor *t)
{
	return t->kind == TENSOR_STATE && t->next != NONE;
}

/* ---- text -------------------------------------------------------------- */

static void print_count(const char *what, int64_t n)
{
	printf("%-12s %" PRId64 "\n", what, n);
}

static void print_face(arena *a, const graph *g, const char *what,
		       const tensor_id *ids, int n)
{
	for (int i = 0; i < n; i++) {
		const tensor *t = &g->tensors[ids[i]];
		printf("%-12s %s  %s\n", what, t->name,
		       tensor_type_text(a, &t->type));
	}
}

/* Weights that are not trained and are part of other constants. */
static void print_folded(arena *a, const graph *g)
{
	strmap *there = strmap_new(a);
	for (int i = 0; i < g->ntensors; i++)
		strmap_put(there, g->tensors[i].name, there);
	for (int i = 0; i < g->nfixed && g->training; i++)
		if (!strmap_get(there, g->fixed[i]))
			printf("%-12s %s  folded\n", "fixed", g->fixed[i]);
}

/* Each operator with its type and the tensors that it reads. */
static void print_nodes(arena *a, const graph *g)
{
	text_table t = table_new(a, 4);
	for (int i = 0; i < g->nnodes; i++) {
		const node *n = &g->nodes[i];
		const char *reads = "";
		for (int j = 0; j < n->kernel->ninputs; j++)
			reads = arena_printf(a, "%s%s%s", reads,
					     j ? ", " : "<- ",
					     g->tensors[n->inputs[j]].name);
		table_add(&t, n->name);
		table_add(&t, n->op);
		table_add(&t, tensor_type_text(a, &g->tensors[n->output].type));
		table_add(&t, reads);
	}
	table_print(&t, stdout, 0);
}

static void print_text(arena *a, const graph *g)
{
	printf("%-12s %s\n", "model", g->name);
	print_count("operators", g->nnodes);
	print_count("tensors", g->ntensors);
	printf("%-12s %" PRId64 " in %s\n", "parameters",
	       graph_parameter_nelem(g),
	       plan_bytes_text(a, graph_parameter_bytes(g)));
	printf("%-12s %s a run\n", "operations",
	       units_scaled((double)graph_flops(g), "FLOP").text);
	print_face(a, g, "input", g->inputs, g->ninputs);
	print_face(a, g, "output", g->outputs, g->noutputs);
	for (int i = 0; i < g->ntensors; i++)
		if (is_kept(&g->tensors[i]))
			print_face(a, g, "state", &i, 1);
		else if (g->tensors[i].parameter && g->training)
			print_face(a, g, is_trained(&g->tensors[i]) ? "trained"
								: "fixed",
				   &i, 1);
	print_folded(a, g);
	putchar('\n');
	print_nodes(a, g);
}

/* ---- dot --------------------------------------------------------------- */

/* An arrow to node n from the producer of a tensor; weights are not drawn. */
static void print_edge(arena *a, const graph *g, tensor_id in, node_id n)
{
	const tensor *t = &g->tensors[in];
	bool made = t->producer != NONE;
	if (!made && t->kind != TENSOR_INPUT && !is_kept(t))
		return;
	printf("  %s%d -> n%d [label=", made ? "n" : "t",
	       made ? t->producer : in, n);
	dot_quoted(tensor_type_text(a, &t->type));
	printf("];\n");
}

/* States, and the nodes that compute their next values. */
static void print_states(const graph *g)
{
	for (int i = 0; i < g->ntensors; i++) {
		const tensor *t = &g->tensors[i];
		if (!is_kept(t))
			continue;
		dot_vertex("t", i, t->name, "shape=ellipse, style=dashed");
		if (t->next != NONE)
			printf("  n%d -> t%d [style=dashed];\n",
			       g->tensors[t->next].producer, i);
	}
}

static void print_dot(arena *a, const graph *g)
{
	dot_begin(g->name);
	for (int i = 0; i < g->ninputs; i++)
		dot_vertex("t", g->inputs[i],
			     g->tensors[g->inputs[i]].name, "shape=ellipse");
	for (int i = 0; i < g->nnodes; i++)
		dot_vertex("n", i,
			     arena_printf(a, "%s: %s", g->nodes[i].name,
					  g->nodes[i].op),
			     g->tensors[g->nodes[i].output].output
				     ? "shape=box, peripheries=2"
				     : "shape=box");
	for (int i = 0; i < g->nnodes; i++)
		for (int j = 0; j < g->nodes[i].kernel->ninputs; j++)
			print_edge(a, g, g->nodes[i].inputs[j], i);
	print_states(g);
	printf("}\n");
}

/* ---- the command --------------------------------------------------------- */

cli_status command_show(driver *d, int argc, char **argv)
{
	bool json = false, dot = false, costs = false;
	const char *machine = NULL;
	plan_model model = PLAN_MODEL;
	const train_request *train = &model.train;
	const cli_option options[] = {
		{ CLI_REPEAT, 'D', "define", "NAME=VALUE",
		  "the value of a symbolic dimension, or of an argument of a "
		  "TDL model; may be repeated", &model.defines },
		{ CLI_REPEAT, 0, "shape", "INPUT=AxB",
		  "replace the shape of an input; may be repeated",
		  &model.shapes },
		{ CLI_FLAG, 0, "dot", NULL, "print a drawing for graphviz",
		  &dot },
		{ CLI_FLAG, 0, "costs", NULL,
		  "print a cost graph for tdlc place, as JSON: times of "
		  "operators, bytes of results and states", &costs },
		PLAN_OPTION_TOPOLOGY(&machine),
		DRIVER_OPTION_MODEL(&model.name),
		DRIVER_OPTIONS_TRAIN(&model.train),
		DRIVER_OPTION_JSON(&json),
		DRIVER_OPTION_LOAD(d),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	if (first != argc - 1)
		return cli_usage(&d->program, "one model or plan is expected");
	if (json + dot + costs > 1)
		return cli_usage(&d->program, "--json, --dot and --costs "
				 "exclude each other");
	if (show_is_plan(argv[first])) {
		bool changed = costs || (dot && machine) || model.defines.n ||
			       model.shapes.n || model.name || train->train ||
			       train->evaluate || train->seed || d->load.n;
		if (changed)
			return cli_usage(&d->program, "a plan is shown as it "
					 "is; --dot goes with it, or "
					 "--topology and --json");
		model_options none = { 0 };
		status = job_train_options(d, train, &none);
		return status != CLI_OK ? status : show_plan(
			d, argv[first], machine, json, dot);
	}
	if (machine && !costs)
		return cli_usage(&d->program, "--topology goes with --costs or "
				 "with a plan");
	graph *g = model_read_graph(d, argv[first], &model, &status);
	if (!g)
		return status;
	if (costs) {
		json_t *j = model_costs_json(d, g, machine, argv[first]);
		return j ? driver_print_json(d, j) : CLI_OK;
	}
	if (json)
		return driver_print_json(d, graph_json(g));
	if (dot)
		print_dot(d->arena, g);
	else
		print_text(d->arena, g);
	return CLI_OK;
}
