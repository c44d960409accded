/* tdlc show PLAN --dot: operators with their divisions, tensors with their
 * cuts, and transfers. */
#include "config.h"

#include "compiler/driver/show_plan.h"

#include <stdio.h>

#include "base/units.h"
#include "compiler/driver/division_text.h"
#include "compiler/driver/dot.h"
#include "plan/classes.h"

typedef struct drawing {
	arena *arena;
	const plan *p;
	layout_classes *classes;
	int *producer;	    /* by tensor: a node, or -1 */
	const char **moves; /* by node: lines on its transfers, or "" */
	const char **fetch; /* by buffer: the transfer that fills it; NULL */
} drawing;

/* "14.7 MB by all-gather"; NULL where nothing is received. */
static const char *transfer_text(const drawing *x, const plan_instr *in)
{
	int64_t n = layout_pair_received(
		x->classes, plan_instr_class(x->classes, x->p, in));
	return n == 0 ? NULL : arena_printf(
		x->arena, "%s by %s", units_bytes((double)n).text,
		collective_name(in->collective));
}

/* Assigns each transfer to the buffer that it fills for a reader, or to the
 * node whose result it moves. */
static void find_transfers(drawing *x)
{
	const plan *p = x->p;
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		const char *text = transfer_text(x, in);
		if (!text)
			continue;
		int n = x->producer[p->buffers[in->from].tensor];
		if (p->buffers[in->to].region == LAYOUT_NEEDS)
			x->fetch[in->to] = text;
		else if (n >= 0)
			x->moves[n] = arena_printf(
				x->arena, "%s\nresult: %s", x->moves[n], text);
	}
}

/* Constants are not drawn: what moves of them is written in the first node that
 * reads it. */
static void note_constants(drawing *x, const plan_instr *run)
{
	const plan_node *n = &x->p->nodes[run->node];
	int ninputs = x->p->kernels[n->kernel].kernel->ninputs;
	for (int i = 0; i < ninputs; i++) {
		const plan_tensor *y = &x->p->tensors[n->inputs[i]];
		const char **moved = &x->fetch[run->inputs[i]];
		if (y->role != PLAN_CONSTANT || !*moved)
			continue;
		x->moves[run->node] = arena_printf(
			x->arena, "%s\n%s: %s", x->moves[run->node], y->name,
			*moved);
		*moved = NULL;
	}
}

static void draw_tensor(const drawing *x, int t, const char *style)
{
	const plan_tensor *y = &x->p->tensors[t];
	const char *cut = division_of_tensor(x->arena, &x->p->mesh, &y->cuts);
	dot_vertex("t", t, arena_printf(x->arena, "%s%s%s", y->name,
					*cut ? "\n" : "", cut), style);
}

static void draw_node(const drawing *x, int n)
{
	const plan_node *y = &x->p->nodes[n];
	const char *by = division_of_node(x->arena, &x->p->mesh, &y->cuts,
					  x->p->kernels[y->kernel].kernel);
	dot_vertex("n", n, arena_printf(x->arena, "%s: %s%s%s%s", y->name,
					y->op, *by ? "\n" : "", by,
					x->moves[n]),
		   x->p->tensors[y->output].output ? "shape=box, peripheries=2"
						   : "shape=box");
}

/* The arrows to a node from what it reads; a transfer is written at the first
 * reader. */
static void draw_reads(const drawing *x, const plan_instr *run)
{
	const plan_node *n = &x->p->nodes[run->node];
	int ninputs = x->p->kernels[n->kernel].kernel->ninputs;
	for (int i = 0; i < ninputs; i++) {
		int t = n->inputs[i], from = x->producer[t];
		const plan_tensor *y = &x->p->tensors[t];
		const char *moved = x->fetch[run->inputs[i]];
		const char *cut = division_of_tensor(x->arena, &x->p->mesh,
						     &y->cuts);
		if (from < 0 && y->role == PLAN_CONSTANT)
			continue;
		printf("  %s%d -> n%d [label=", from < 0 ? "t" : "n",
		       from < 0 ? t : from, run->node);
		dot_quoted(!moved ? cut : arena_printf(
			x->arena, "%s%s%s", cut, *cut ? "\n" : "", moved));
		printf("%s];\n", moved ? ", color=red, penwidth=2" : "");
		x->fetch[run->inputs[i]] = NULL;
	}
}

void show_plan_dot(arena *a, const plan *p)
{
	drawing x = { a, p, layout_classes_new(a, &p->mesh),
		      ARENA_ARRAY(a, int, p->ntensors),
		      ARENA_ARRAY(a, const char *, p->nnodes),
		      ARENA_ARRAY(a, const char *, p->nbuffers) };
	for (int t = 0; t < p->ntensors; t++)
		x.producer[t] = -1;
	for (int n = 0; n < p->nnodes; n++) {
		x.producer[p->nodes[n].output] = n;
		x.moves[n] = "";
	}
	find_transfers(&x);
	for (int i = 0; i < p->ninstrs; i++)
		if (p->program[i].op == PLAN_RUN)
			note_constants(&x, &p->program[i]);
	dot_begin(p->model);
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].role == PLAN_INPUT ||
		    p->tensors[t].role == PLAN_STATE)
			draw_tensor(&x, t, p->tensors[t].role == PLAN_STATE ?
						   "shape=ellipse, style=dashed"
						   : "shape=ellipse");
	for (int n = 0; n < p->nnodes; n++)
		draw_node(&x, n);
	for (int i = 0; i < p->ninstrs; i++)
		if (p->program[i].op == PLAN_RUN)
			draw_reads(&x, &p->program[i]);
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].role == PLAN_STATE && p->tensors[t].next >= 0)
			printf("  n%d -> t%d [style=dashed];\n",
			       x.producer[p->tensors[t].next], t);
	printf("}\n");
}
