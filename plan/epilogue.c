/* Runs that are computed together with the run before them, as its epilogue. */
#include "config.h"

#include "plan/lifetimes.h"

static const kernel *kernel_of(const plan *p, const plan_instr *run)
{
	return p->kernels[p->nodes[run->node].kernel].kernel;
}

/* The only input that reads a buffer; -1 if there are several. */
static int input_of(const plan *p, const plan_instr *run, int buffer)
{
	int found = -1;
	for (int i = 0; i < kernel_of(p, run)->ninputs; i++) {
		if (run->inputs[i] != buffer)
			continue;
		if (found >= 0)
			return -1;
		found = i;
	}
	return found;
}

static bool overlap(const plan_buffer *x, const plan_buffer *y)
{
	return x->offset < y->offset + plan_buffer_span(y) &&
	       y->offset < x->offset + plan_buffer_span(x);
}

/* Whether input i of a run, one of those joined from the first one on, may be
 * in the place of the result: it is read element by element, or is the result
 * of the run before, which is not in memory. */
static bool may_lie_there(const plan *p, const plan_instr *run, bool first,
			  int i, const plan_buffer *to)
{
	const plan_buffer *from = &p->buffers[run->inputs[i]];
	if (!overlap(from, to) || (!first && run->inputs[i] == run[-1].to))
		return true;
	return !first && from->offset == to->offset &&
	       from->nbytes == to->nbytes &&
	       kernel_in_place(kernel_of(p, run), i);
}

/* Whether RUN y overwrites nothing that runs [first, y) read otherwise. */
static bool writes_apart(const plan *p, int first, int y)
{
	const plan_buffer *to = &p->buffers[p->program[y].to];
	for (int x = first; x < y; x++) {
		const plan_instr *run = &p->program[x];
		for (int i = 0; i < kernel_of(p, run)->ninputs; i++)
			if (!may_lie_there(p, run, x == first, i, to))
				return false;
	}
	return true;
}

/* Whether both runs divide the same dimensions of their results, and no sum. */
static bool divided_alike(const plan *p, const plan_instr *x,
			  const plan_instr *y)
{
	const plan_node *m = &p->nodes[x->node], *n = &p->nodes[y->node];
	int nout = kernel_of(p, x)->nout;
	for (int a = 0; a < p->mesh.naxes; a++) {
		int d = m->cuts.dim[a];
		if (d != n->cuts.dim[a] || d < CUT_NONE || d >= nout)
			return false;
	}
	return p->loop.turns == 0 || (m->time == n->time && m->time < nout);
}

/* The input of RUN i + 1 that is the result of RUN i, if they can be computed
 * together with those from `first' on; -1. */
static int followed(const plan *p, const lifetime *l, int first, int i)
{
	const plan_instr *x = &p->program[i], *y = x + 1;
	if (i + 1 >= p->ninstrs || i + 2 - first > PLAN_MOST_JOINED ||
	    x->op != PLAN_RUN || y->op != PLAN_RUN || x->turn != y->turn ||
	    x->chain > 0 || y->chain > 0 ||
	    l[x->to].last != i + 1 || plan_hands_out(p, i))
		return -1;
	const kernel *k = kernel_of(p, y);
	int input = input_of(p, y, x->to);
	bool good = input >= 0 && !k->opaque && kernel_in_place(k, input) &&
		    divided_alike(p, x, y) && writes_apart(p, first, i + 1);
	return good ? input : -1;
}

int *plan_joined(arena *a, const plan *p, plan_find_epilogue *find, void *arg)
{
	int *to = ARENA_ARRAY(a, int, p->ninstrs), first = 0;
	arena *tmp = arena_new();
	const lifetime *l = plan_lifetimes(tmp, p);
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *x = &p->program[i], *y = x + 1;
		plan_epilogue e = { .after = -1 };
		if (i == 0 || to[i - 1] < 0)
			first = i;
		else
			e.after = to[i - 1];
		to[i] = -1;
		e.input = followed(p, l, first, i);
		if (e.input < 0)
			continue;
		e.of = p->nodes[x->node].kernel;
		to[i] = find(arg, p->nodes[y->node].kernel, &e);
	}
	arena_free(tmp);
	return to;
}

static int find(void *of, int number, const plan_epilogue *e)
{
	const plan_kernel *k = &((const plan *)of)->kernels[number];
	for (int i = 0; i < k->nepilogues; i++)
		if (k->epilogues[i].of == e->of &&
		    k->epilogues[i].after == e->after &&
		    k->epilogues[i].input == e->input)
			return i;
	return -1;
}

int *plan_epilogues(arena *a, const plan *p)
{
	return plan_joined(a, p, find, (void *)p);
}
