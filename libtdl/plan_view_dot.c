/* Draws a plan: operators with their divisions, tensors with their cuts, and
 * transfers.  Operators of repeated blocks that are divided alike are drawn as
 * one.  If that is still too much, whole blocks are drawn. */
#include "config.h"

#include "libtdl/plan_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "base/units.h"
#include "libtdl/blocks.h"
#include "libtdl/division_text.h"
#include "libtdl/dot.h"
#include "libtdl/name_groups.h"
#include "plan/classes.h"

enum { MOST_VERTICES = 64, /* operators; with more, blocks are folded */
       MOST_DIVISIONS = 3 /* divisions named in a block */ };

/* Transfers of one kind, of the results of a group of operators, or of a
 * constant that these read. */
typedef struct moved {
	const char *what; /* "result", the constant's group, or "" in a block */
	collective by;
	int n;
	int64_t bytes; /* all together */
} moved;

typedef VEC(moved) moves;

/* The edge for one or several tensors from one vertex to another. */
typedef struct edge {
	char from_kind, to_kind; /* 't' or 'n' */
	int from, to;
	const char *cut; /* "" if the tensors have several */
	bool next;	 /* a value for the next run */
	moves moves;
} edge;

typedef struct drawing {
	arena *arena;
	const plan *p;
	layout_classes *classes;
	blocks operators;
	bool folded;	     /* a block is drawn whole */
	moves *moved;	     /* by group of operators: transfers inside it */
	name_groups tensors; /* groups of all tensors */
	int *tensor_group;
	int *producer;		  /* by tensor: a node; -1 */
	/* by buffer: the transfer that fills it for a reader, until it is
	 * drawn; NULL */
	const plan_instr **fetch;
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

/* Lists the operators that each operator reads, one list after the other, and
 * where each list begins. */
static void list_reads(const drawing *x, int *first, int **reads)
{
	const plan *p = x->p;
	VEC(int) all = { 0 };
	for (int i = 0; i < p->nnodes; i++) {
		const plan_node *n = &p->nodes[i];
		int ninputs = p->kernels[n->kernel].kernel->ninputs;
		first[i] = all.n;
		for (int j = 0; j < ninputs; j++)
			if (x->producer[n->inputs[j]] >= 0)
				vec_push(x->arena, &all,
					 x->producer[n->inputs[j]]);
	}
	first[p->nnodes] = all.n;
	*reads = all.at;
}

static void group_operators(drawing *x, bool unfolded)
{
	const plan *p = x->p;
	arena *a = x->arena;
	const char **names = ARENA_ARRAY(a, const char *, p->nnodes);
	const char **kinds = ARENA_ARRAY(a, const char *, p->nnodes);
	int *first = ARENA_ARRAY(a, int, p->nnodes + 1), *reads;
	for (int i = 0; i < p->nnodes; i++) {
		const plan_node *n = &p->nodes[i];
		names[i] = n->name;
		kinds[i] = arena_printf(a, "%s\t%s\t%s\t%d", n->op,
					node_text(x, i),
					cut_text(x, n->output),
					p->tensors[n->output].output);
	}
	list_reads(x, first, &reads);
	const named_graph g = { p->nnodes, names, kinds, first, reads };
	x->operators = blocks_of(a, &g, unfolded ? 0 : MOST_VERTICES);
	x->moved = ARENA_ARRAY(a, moves, x->operators.ngroups);
	x->folded = blocks_are_folded(&x->operators);
}

static const block_group *group_of(const drawing *x, int node)
{
	return &x->operators.groups[x->operators.group[node]];
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

/* ---- transfers --------------------------------------------------------- */

/* "14.7 MB by all-gather", "12 x, 176 MB by all-gather" */
static const char *moved_text(arena *a, const moved *m)
{
	const char *text = arena_printf(a, "%s by %s",
					units_bytes((double)m->bytes).text,
					collective_name(m->by));
	return m->n == 1 ? text : arena_printf(a, "%d x, %s", m->n, text);
}

static void add_to(arena *a, moves *all, const char *what, collective by,
		   int64_t bytes)
{
	int i = 0;
	while (i < all->n &&
	       (all->at[i].by != by || strcmp(all->at[i].what, what)))
		i++;
	if (i == all->n)
		vec_push(a, all, ((moved){ what, by, 0, 0 }));
	all->at[i].n++;
	all->at[i].bytes += bytes;
}

static void add_moved(drawing *x, int n, const char *what,
		      const plan_instr *in)
{
	int v = x->operators.group[n];
	add_to(x->arena, &x->moved[v],
	       x->operators.groups[v].n > 1 ? "" : what, in->collective,
	       received(x, in));
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

/* Adds an edge.  All edges between two blocks become one; edges between
 * operators become one if they carry the same. */
static void add_edge(drawing *x, const edge *e, const plan_instr *in)
{
	bool whole = (e->from_kind == 'n' &&
		      x->operators.groups[e->from].n > 1) ||
		     x->operators.groups[e->to].n > 1;
	const char *key = arena_printf(x->arena, "%c%d %c%d %d", e->from_kind,
				       e->from, e->to_kind, e->to, e->next);
	if (!whole)
		key = arena_printf(x->arena, "%s %s %d", key, e->cut,
				   in ? (int)in->collective : -1);
	edge *known = strmap_get(x->edges, key);
	if (!known) {
		known = ARENA_COPY(x->arena, e, 1);
		strmap_put(x->edges, key, known);
	} else if (strcmp(known->cut, e->cut)) {
		known->cut = "";
	}
	if (in)
		add_to(x->arena, &known->moves, "", in->collective,
		       received(x, in));
}

/* Whether a read is not drawn: that of a constant, of a state if blocks are
 * drawn, or within a block.  Its transfers are written in the vertex. */
static bool is_inside(const drawing *x, int reader, int t)
{
	int from = x->producer[t];
	plan_role role = x->p->tensors[t].role;
	if (from < 0)
		return role == PLAN_CONSTANT ||
		       (role == PLAN_STATE && x->folded);
	return group_of(x, reader)->n > 1 &&
	       x->operators.block[from] == x->operators.block[reader];
}

/* Adds the reads of a node.  A transfer belongs to its first reader. */
static void add_reads(drawing *x, const plan_instr *run)
{
	const plan *p = x->p;
	const plan_node *n = &p->nodes[run->node];
	int ninputs = p->kernels[n->kernel].kernel->ninputs;
	for (int i = 0; i < ninputs; i++) {
		int t = n->inputs[i], from = x->producer[t];
		int group = x->tensor_group[t];
		const plan_instr *in = x->fetch[run->inputs[i]];
		x->fetch[run->inputs[i]] = NULL;
		const edge e = { from < 0 ? 't' : 'n', 'n',
				 from < 0 ? group : x->operators.group[from],
				 x->operators.group[run->node], cut_text(x, t),
				 false, { 0 } };
		if (!is_inside(x, run->node, t))
			add_edge(x, &e, in);
		else if (in)
			add_moved(x, run->node, x->tensors.at[group].name, in);
	}
}

static void add_next(drawing *x, int state)
{
	int made = x->producer[x->p->tensors[state].next];
	const edge e = { 'n', 't', x->operators.group[made],
			 x->tensor_group[state], "", true, { 0 } };
	add_edge(x, &e, NULL);
}

/* ---- drawing ----------------------------------------------------------- */

static bool is_drawn(const drawing *x, int t)
{
	switch (x->p->tensors[t].role) {
	case PLAN_INPUT:
		return true;
	case PLAN_STATE:
		return !x->folded;
	case PLAN_RESULT:
		return x->producer[t] < 0; /* received from another stage */
	default:
		return false;
	}
}

static void draw_tensors(FILE *to, const drawing *x)
{
	for (int i = 0; i < x->tensors.n; i++) {
		const name_group *g = &x->tensors.at[i];
		int t = g->members[0];
		plan_role role = x->p->tensors[t].role;
		const char *cut = cut_text(x, t);
		if (!is_drawn(x, t))
			continue;
		dot_vertex(to, "t", i,
			   arena_printf(x->arena, "%s%s%s",
					dot_times(x->arena, g->name, g->n),
					*cut ? "\n" : "", cut),
			   role == PLAN_STATE ? "shape=ellipse, style=dashed"
			   : role == PLAN_RESULT ? "shape=cds"
						 : "shape=ellipse");
	}
}

/* "result: 14.7 MB by all-gather", one line per kind. */
static const char *with_moves(arena *a, const char *text, const moves *all)
{
	for (int i = 0; i < all->n; i++) {
		const moved *m = &all->at[i];
		text = arena_printf(a, "%s%s%s%s%s", text, *text ? "\n" : "",
				    m->what, *m->what ? ": " : "",
				    moved_text(a, m));
	}
	return text;
}

/* Lines "9 by b into 4": the divisions of a block's operators, the most
 * frequent first; those above MOST_DIVISIONS share a line. */
static const char *divisions_text(const drawing *x, const block_group *g)
{
	typedef struct way {
		const char *by;
		int n;
	} way;
	way *ways = ARENA_ARRAY(x->arena, way, g->n);
	int n = 0, rest = 0;
	const char *text = "";
	for (int i = 0; i < g->n; i++) {
		const char *by = node_text(x, g->members[i]);
		int w = 0;
		while (w < n && strcmp(ways[w].by, by))
			w++;
		if (w == n)
			ways[n++] = (way){ by, 0 };
		for (ways[w].n++; w > 0 && ways[w].n > ways[w - 1].n; w--) {
			way other = ways[w - 1];
			ways[w - 1] = ways[w];
			ways[w] = other;
		}
	}
	for (int w = 0; w < n && w < MOST_DIVISIONS; w++)
		if (*ways[w].by)
			text = arena_printf(x->arena, "%s%s%d %s", text,
					    *text ? "\n" : "", ways[w].n,
					    ways[w].by);
	for (int w = MOST_DIVISIONS; w < n; w++)
		rest += ways[w].n;
	return rest == 0 ? text : arena_printf(
		x->arena, "%s\n%d in other ways", text, rest);
}

static bool has_output(const drawing *x, const block_group *g)
{
	for (int i = 0; i < g->n; i++)
		if (x->p->tensors[x->p->nodes[g->members[i]].output].output)
			return true;
	return false;
}

static void draw_operators(FILE *to, const drawing *x)
{
	for (int i = 0; i < x->operators.ngroups; i++) {
		const block_group *g = &x->operators.groups[i];
		int n = g->members[0];
		const char *by = g->n == 1 ? node_text(x, n)
					   : divisions_text(x, g);
		dot_block(to, x->arena, i, g, x->p->nodes[n].op,
			  with_moves(x->arena, by, &x->moved[i]),
			  has_output(x, g));
	}
}

static void draw_edge(FILE *to, const drawing *x, const edge *e)
{
	fprintf(to, "  %c%d -> %c%d", e->from_kind, e->from, e->to_kind, e->to);
	if (e->next) {
		fprintf(to, " [style=dashed];\n");
		return;
	}
	fprintf(to, " [label=");
	dot_quoted(to, with_moves(x->arena, e->cut, &e->moves));
	fprintf(to, "%s];\n",
		e->moves.n > 0 ? ", color=red, penwidth=2" : "");
}

void plan_view_dot(FILE *to, arena *a, const plan *p, bool unfolded)
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
	group_operators(&x, unfolded);
	group_tensors(&x);
	find_transfers(&x);
	for (int i = 0; i < p->ninstrs; i++)
		if (p->program[i].op == PLAN_RUN)
			add_reads(&x, &p->program[i]);
	for (int t = 0; t < p->ntensors && !x.folded; t++)
		if (p->tensors[t].role == PLAN_STATE && p->tensors[t].next >= 0)
			add_next(&x, t);
	dot_begin(to, p->model);
	draw_tensors(to, &x);
	draw_operators(to, &x);
	for (int i = 0; i < strmap_count(x.edges); i++)
		draw_edge(to, &x, strmap_value(x.edges, i));
	fprintf(to, "}\n");
}
