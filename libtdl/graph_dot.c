/* Draws a model: its operators, and the tensors between them.  If there are too
 * many, whole blocks are drawn, and equal blocks once. */
#include "config.h"

#include <string.h>

#include "base/intern.h"
#include "base/vec.h"
#include "libtdl/blocks.h"
#include "libtdl/dot.h"
#include "libtdl/graph_json.h"

enum { MOST_VERTICES = 64 /* with more, blocks are folded */ };

typedef struct edge {
	int to, n;	  /* the edge's end; number of tensors */
	const char *from; /* "t3", "n12" */
	const char *type; /* "" if the tensors have several types */
} edge;

typedef struct drawing {
	arena *arena;
	const graph *g;
	blocks operators;
	bool each; /* each operator is drawn */
	strmap *edges;
} drawing;

/* Whether a tensor is a state other than a weight. */
static bool is_kept(const tensor *t)
{
	return t->kind == TENSOR_STATE && !t->parameter;
}

/* ---- blocks ------------------------------------------------------------ */

/* Groups operators.  If there are few, or all are to be drawn, each is its own
 * group. */
static void find_operators(drawing *x, bool unfolded)
{
	const graph *g = x->g;
	arena *a = x->arena;
	const char **names = ARENA_ARRAY(a, const char *, g->nnodes);
	const char **kinds = ARENA_ARRAY(a, const char *, g->nnodes);
	int *first = ARENA_ARRAY(a, int, g->nnodes + 1);
	bool each = unfolded || g->nnodes <= MOST_VERTICES;
	VEC(int) reads = { 0 };
	for (int i = 0; i < g->nnodes; i++) {
		const node *n = &g->nodes[i];
		const tensor *t = &g->tensors[n->output];
		names[i] = n->name;
		kinds[i] = arena_printf(a, "%s %s %d %d", n->op,
					tensor_type_text(a, &t->type),
					t->output, each ? i : 0);
		first[i] = reads.n;
		for (int j = 0; j < n->kernel->ninputs; j++)
			if (g->tensors[n->inputs[j]].producer != NONE)
				vec_push(a, &reads,
					 g->tensors[n->inputs[j]].producer);
	}
	first[g->nnodes] = reads.n;
	const named_graph named = { g->nnodes, names, kinds, first, reads.at };
	x->operators = blocks_of(a, &named, each ? 0 : MOST_VERTICES);
	x->each = each;
}

/* ---- edges ------------------------------------------------------------- */

static void add_edge(drawing *x, tensor_id in, node_id reader)
{
	const tensor *t = &x->g->tensors[in];
	const blocks *b = &x->operators;
	int to = b->group[reader];
	bool made = t->producer != NONE;
	/* Weights are not drawn. */
	if (!made && t->kind != TENSOR_INPUT && !is_kept(t))
		return;
	if (made && b->groups[to].n > 1 &&
	    b->block[t->producer] == b->block[reader])
		return;
	edge e = { to, 0,
		   arena_printf(x->arena, "%s%d", made ? "n" : "t",
				made ? b->group[t->producer] : in),
		   tensor_type_text(x->arena, &t->type) };
	const char *key = arena_printf(x->arena, "%s %d", e.from, to);
	if (x->each) /* then each read is drawn, too */
		key = arena_printf(x->arena, "%d", strmap_count(x->edges));
	edge *known = strmap_get(x->edges, key);
	if (!known) {
		known = ARENA_COPY(x->arena, &e, 1);
		strmap_put(x->edges, key, known);
	}
	known->n++;
	if (strcmp(known->type, e.type))
		known->type = "";
}

/* ---- drawing ----------------------------------------------------------- */

/* Draws states, and the operators that compute their next values. */
static void draw_states(FILE *to, const drawing *x)
{
	for (int i = 0; i < x->g->ntensors; i++) {
		const tensor *t = &x->g->tensors[i];
		if (!is_kept(t))
			continue;
		dot_vertex(to, "t", i, t->name, "shape=ellipse, style=dashed");
		if (t->next == NONE)
			continue;
		int made = x->g->tensors[t->next].producer;
		fprintf(to, "  n%d -> t%d [style=dashed];\n",
			x->operators.group[made], i);
	}
}

static void draw_operators(FILE *to, const drawing *x)
{
	const graph *g = x->g;
	for (int i = 0; i < x->operators.ngroups; i++) {
		const block_group *b = &x->operators.groups[i];
		bool output = false;
		for (int j = 0; j < b->n; j++)
			output |= g->tensors[g->nodes[b->members[j]].output]
					  .output;
		dot_block(to, x->arena, i, b, g->nodes[b->members[0]].op, "",
			  output);
	}
}

static void draw_edges(FILE *to, const drawing *x)
{
	for (int i = 0; i < strmap_count(x->edges); i++) {
		const edge *e = strmap_value(x->edges, i);
		const char *label = e->type;
		if (e->n > 1)
			label = arena_printf(x->arena, "%d x%s%s", e->n,
					     *label ? " " : "", label);
		fprintf(to, "  %s -> n%d [label=", e->from, e->to);
		dot_quoted(to, label);
		fprintf(to, "];\n");
	}
}

void graph_dot(FILE *to, arena *a, const graph *g, bool unfolded)
{
	drawing x = { .arena = a, .g = g, .edges = strmap_new(a) };
	find_operators(&x, unfolded);
	for (int i = 0; i < g->nnodes; i++)
		for (int j = 0; j < g->nodes[i].kernel->ninputs; j++)
			add_edge(&x, g->nodes[i].inputs[j], i);
	dot_begin(to, g->name);
	for (int i = 0; i < g->ninputs; i++)
		dot_vertex(to, "t", g->inputs[i],
			   g->tensors[g->inputs[i]].name, "shape=ellipse");
	draw_operators(to, &x);
	draw_edges(to, &x);
	draw_states(to, &x);
	fprintf(to, "}\n");
}
