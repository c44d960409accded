/* A plan as a drawing: operators with their divisions, tensors with their cuts,
 * and transfers; operators of repeated blocks that are divided alike are one.
 */
#include "config.h"

#include "libtdl/plan_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "base/units.h"
#include "libtdl/division_text.h"
#include "libtdl/dot.h"
#include "libtdl/name_groups.h"
#include "plan/classes.h"

/* Transfers of one kind: of the results of a group of operators, or of a
 * constant that they read. */
typedef struct moved {
	const char *what; /* "result", or the constant's group */
	collective by;
	int n;
	int64_t bytes; /* in all */
} moved;

typedef struct vertex {
	const name_group *group;
	VEC(moved) moves; /* of operators */
} vertex;

/* A tensor, or several of one layout, from one vertex to another, moved or
 * not. */
typedef struct edge {
	char from_kind, to_kind; /* 't' or 'n' */
	int from, to;
	const char *cut;
	bool next; /* a value for the next run */
	moved moved; /* by COLL_LOCAL: nothing is received */
} edge;

typedef struct drawing {
	arena *arena;
	const plan *p;
	layout_classes *classes;
	name_groups operators, tensors; /* tensors: all of them */
	vertex *vertices;		/* by group of operators */
	int *operator_group, *tensor_group;
	int *producer;		  /* by tensor: a node, or -1 */
	const plan_instr **fetch; /* by buffer: the transfer that fills it for
				     a reader, until it is drawn; NULL */
	strmap *edges;
} drawing;

static int64_t received(const drawing *x, const plan_instr *in)
{
	return layout_pair_received(x->classes,
				    plan_instr_class(x->classes, x->p, in));
}

/* ---- groups ------------------------------------------------------------ */

static int *numbers_of(arena *a, const name_groups *all, int n)
{
	int *number = ARENA_ARRAY(a, int, n);
	for (int i = 0; i < all->n; i++)
		for (int j = 0; j < all->at[i].n; j++)
			number[all->at[i].members[j]] = i;
	return number;
}

static const char *node_text(const drawing *x, int i)
{
	const plan_node *n = &x->p->nodes[i];
	return division_of_node(x->arena, &x->p->mesh, &n->cuts,
				x->p->kernels[n->kernel].kernel);
}

static const char *cut_text(const drawing *x, int t)
{
	return division_of_tensor(x->arena, &x->p->mesh,
				  &x->p->tensors[t].cuts);
}

static void group_operators(drawing *x)
{
	const plan *p = x->p;
	const char **names = ARENA_ARRAY(x->arena, const char *, p->nnodes);
	const char **kinds = ARENA_ARRAY(x->arena, const char *, p->nnodes);
	for (int i = 0; i < p->nnodes; i++) {
		const plan_node *n = &p->nodes[i];
		names[i] = n->name;
		kinds[i] = arena_printf(x->arena, "%s\t%s\t%s\t%d", n->op,
					node_text(x, i),
					cut_text(x, n->output),
					p->tensors[n->output].output);
	}
	x->operators = group_names(x->arena, p->nnodes, names, kinds);
	x->operator_group = numbers_of(x->arena, &x->operators, p->nnodes);
	x->vertices = ARENA_ARRAY(x->arena, vertex, x->operators.n);
	for (int i = 0; i < x->operators.n; i++)
		x->vertices[i].group = &x->operators.at[i];
}

static void group_tensors(drawing *x)
{
	const plan *p = x->p;
	const char **names = ARENA_ARRAY(x->arena, const char *, p->ntensors);
	const char **kinds = ARENA_ARRAY(x->arena, const char *, p->ntensors);
	for (int i = 0; i < p->ntensors; i++) {
		names[i] = p->tensors[i].name;
		kinds[i] = arena_printf(x->arena, "%s\t%s",
					plan_role_name(&p->tensors[i]),
					cut_text(x, i));
	}
	x->tensors = group_names(x->arena, p->ntensors, names, kinds);
	x->tensor_group = numbers_of(x->arena, &x->tensors, p->ntensors);
}

/* "12 x layer_{0..11}.q" */
static const char *group_text(arena *a, const name_group *g)
{
	return g->n == 1 ? g->name : arena_printf(a, "%d x %s", g->n, g->name);
}

/* ---- transfers --------------------------------------------------------- */

/* "14.7 MB by all-gather", "12 x, 176 MB by all-gather" */
static const char *moved_text(arena *a, const moved *m)
{
	const char *text = arena_printf(a, "%s by %s",
					units_bytes((double)m->bytes).text,
					collective_name(m->by));
	return m->n == 1 ? text : arena_printf(a, "%d x, %s", m->n, text);
}

static void add_moved(drawing *x, int n, const char *what,
		      const plan_instr *in)
{
	vertex *v = &x->vertices[x->operator_group[n]];
	int i = 0;
	while (i < v->moves.n && (v->moves.at[i].by != in->collective ||
				  strcmp(v->moves.at[i].what, what)))
		i++;
	if (i == v->moves.n)
		vec_push(x->arena, &v->moves,
			 ((moved){ what, in->collective, 0, 0 }));
	v->moves.at[i].n++;
	v->moves.at[i].bytes += received(x, in);
}

/* Assigns each transfer to the buffer that it fills for a reader, or to the
 * node whose result it moves. */
static void find_transfers(drawing *x)
{
	const plan *p = x->p;
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (!plan_moves(in) || received(x, in) == 0)
			continue;
		int n = x->producer[p->buffers[in->from].tensor];
		if (p->buffers[in->to].region == LAYOUT_NEEDS)
			x->fetch[in->to] = in;
		else if (n >= 0)
			add_moved(x, n, "result", in);
	}
}

/* ---- edges ------------------------------------------------------------- */

static void add_edge(drawing *x, const edge *e, int64_t bytes)
{
	const char *key = arena_printf(x->arena, "%c%d %c%d %s %d %d",
				       e->from_kind, e->from, e->to_kind,
				       e->to, e->cut, e->next, e->moved.by);
	edge *known = strmap_get(x->edges, key);
	if (!known) {
		known = ARENA_COPY(x->arena, e, 1);
		strmap_put(x->edges, key, known);
	}
	known->moved.n++;
	known->moved.bytes += bytes;
}

/* The reads of a node.  Constants are not drawn: what moves of them is written
 * in the node.  A transfer is that of its first reader. */
static void add_reads(drawing *x, const plan_instr *run)
{
	const plan *p = x->p;
	const plan_node *n = &p->nodes[run->node];
	int ninputs = p->kernels[n->kernel].kernel->ninputs;
	for (int i = 0; i < ninputs; i++) {
		int t = n->inputs[i], from = x->producer[t];
		const plan_instr *in = x->fetch[run->inputs[i]];
		const name_group *g = &x->tensors.at[x->tensor_group[t]];
		x->fetch[run->inputs[i]] = NULL;
		if (from < 0 && p->tensors[t].role == PLAN_CONSTANT) {
			if (in)
				add_moved(x, run->node, g->name, in);
			continue;
		}
		const edge e = {
			from < 0 ? 't' : 'n', 'n',
			from < 0 ? x->tensor_group[t] : x->operator_group[from],
			x->operator_group[run->node], cut_text(x, t), false,
			{ .by = in ? in->collective : COLL_LOCAL }
		};
		add_edge(x, &e, in ? received(x, in) : 0);
	}
}

static void add_next(drawing *x, int state)
{
	int made = x->producer[x->p->tensors[state].next];
	const edge e = { 'n', 't', x->operator_group[made],
			 x->tensor_group[state], "", true,
			 { .by = COLL_LOCAL } };
	add_edge(x, &e, 0);
}

/* ---- drawing ----------------------------------------------------------- */

static void draw_tensors(FILE *to, const drawing *x)
{
	for (int i = 0; i < x->tensors.n; i++) {
		const name_group *g = &x->tensors.at[i];
		int t = g->members[0];
		plan_role role = x->p->tensors[t].role;
		const char *cut = cut_text(x, t);
		bool received = role == PLAN_RESULT && x->producer[t] < 0;
		if (role == PLAN_INPUT || role == PLAN_STATE || received)
			dot_vertex(to, "t", i, arena_printf(
				x->arena, "%s%s%s", group_text(x->arena, g),
				*cut ? "\n" : "", cut), role == PLAN_STATE ?
				   "shape=ellipse, style=dashed"
				   : received ? "shape=cds" : "shape=ellipse");
	}
}

static void draw_operators(FILE *to, const drawing *x)
{
	for (int i = 0; i < x->operators.n; i++) {
		const vertex *v = &x->vertices[i];
		int n = v->group->members[0];
		const plan_node *y = &x->p->nodes[n];
		const char *by = node_text(x, n);
		const char *text = arena_printf(
			x->arena, "%s: %s%s%s", group_text(x->arena, v->group),
			y->op, *by ? "\n" : "", by);
		for (int j = 0; j < v->moves.n; j++)
			text = arena_printf(
				x->arena, "%s\n%s: %s", text,
				v->moves.at[j].what,
				moved_text(x->arena, &v->moves.at[j]));
		dot_vertex(to, "n", i, text, x->p->tensors[y->output].output
			   ? "shape=box, peripheries=2" : "shape=box");
	}
}

static void draw_edge(FILE *to, const drawing *x, const edge *e)
{
	fprintf(to, "  %c%d -> %c%d", e->from_kind, e->from, e->to_kind, e->to);
	if (e->next) {
		fprintf(to, " [style=dashed];\n");
		return;
	}
	bool moves = e->moved.by != COLL_LOCAL;
	fprintf(to, " [label=");
	dot_quoted(to, !moves ? e->cut : arena_printf(
		x->arena, "%s%s%s", e->cut, *e->cut ? "\n" : "",
		moved_text(x->arena, &e->moved)));
	fprintf(to, "%s];\n", moves ? ", color=red, penwidth=2" : "");
}

void plan_view_dot(FILE *to, arena *a, const plan *p)
{
	drawing x = { .arena = a, .p = p,
		      .classes = layout_classes_new(a, &p->mesh),
		      .producer = ARENA_ARRAY(a, int, p->ntensors),
		      .fetch = ARENA_ARRAY(a, const plan_instr *, p->nbuffers),
		      .edges = strmap_new(a) };
	for (int t = 0; t < p->ntensors; t++)
		x.producer[t] = -1;
	for (int n = 0; n < p->nnodes; n++)
		x.producer[p->nodes[n].output] = n;
	group_operators(&x);
	group_tensors(&x);
	find_transfers(&x);
	for (int i = 0; i < p->ninstrs; i++)
		if (p->program[i].op == PLAN_RUN)
			add_reads(&x, &p->program[i]);
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].role == PLAN_STATE && p->tensors[t].next >= 0)
			add_next(&x, t);
	dot_begin(to, p->model);
	draw_tensors(to, &x);
	draw_operators(to, &x);
	for (int i = 0; i < strmap_count(x.edges); i++)
		draw_edge(to, &x, strmap_value(x.edges, i));
	fprintf(to, "}\n");
}
