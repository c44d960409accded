/* A model's operators and tensors as tables. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/intern.h"
#include "base/text.h"
#include "base/units.h"
#include "libtdl/graph_json.h"
#include "libtdl/plan_report.h"

/* Whether a tensor is a state other than a weight. */
static bool is_kept(const tensor *t)
{
	return t->kind == TENSOR_STATE && !t->parameter;
}

static bool is_trained(const tensor *t)
{
	return t->kind == TENSOR_STATE && t->next != NONE;
}

/* ---- text -------------------------------------------------------------- */

static void print_count(FILE *to, const char *what, int64_t n)
{
	fprintf(to, "%-12s %" PRId64 "\n", what, n);
}

static void print_face(FILE *to, arena *a, const graph *g, const char *what,
		       const tensor_id *ids, int n)
{
	for (int i = 0; i < n; i++) {
		const tensor *t = &g->tensors[ids[i]];
		fprintf(to, "%-12s %s  %s\n", what, t->name,
		       tensor_type_text(a, &t->type));
	}
}

/* Prints the weights that are not trained and became part of other
 * constants. */
static void print_folded(FILE *to, arena *a, const graph *g)
{
	strmap *there = strmap_new(a);
	for (int i = 0; i < g->ntensors; i++)
		strmap_put(there, g->tensors[i].name, there);
	for (int i = 0; i < g->nfixed && g->training; i++)
		if (!strmap_get(there, g->fixed[i]))
			fprintf(to, "%-12s %s  folded\n", "fixed", g->fixed[i]);
}

/* Prints each operator with its type and the tensors that it reads. */
static void print_nodes(FILE *to, arena *a, const graph *g)
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
	table_print(&t, to, 0);
}

void graph_text(FILE *to, arena *a, const graph *g)
{
	fprintf(to, "%-12s %s\n", "model", g->name);
	print_count(to, "operators", g->nnodes);
	print_count(to, "tensors", g->ntensors);
	fprintf(to, "%-12s %" PRId64 " in %s\n", "parameters",
	       graph_parameter_nelem(g),
	       plan_bytes_text(a, graph_parameter_bytes(g)));
	fprintf(to, "%-12s %s a run\n", "operations",
	       units_scaled((double)graph_flops(g), "FLOP").text);
	print_face(to, a, g, "input", g->inputs, g->ninputs);
	print_face(to, a, g, "output", g->outputs, g->noutputs);
	for (int i = 0; i < g->ntensors; i++)
		if (is_kept(&g->tensors[i]))
			print_face(to, a, g, "state", &i, 1);
		else if (g->tensors[i].parameter && g->training)
			print_face(to, a, g,
				   is_trained(&g->tensors[i]) ? "trained"
							      : "fixed",
				   &i, 1);
	print_folded(to, a, g);
	fputc('\n', to);
	print_nodes(to, a, g);
}
