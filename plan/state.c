/* The updates of states: a MOVE copies a next value that cannot be in the place
 * of its state. */
#include "config.h"

#include "plan/lifetimes.h"

typedef struct clock {
	int *reader; /* by buffer */
	int now;
} clock;

static void note_reader(void *to, int buffer)
{
	clock *c = to;
	c->reader[buffer] = c->now;
}

/* Whether the kernel that computes the next value may write it over the state
 * that it reads. */
static bool may_overwrite(const plan *p, const plan_instr *in, int state)
{
	if (in->op != PLAN_RUN)
		return false;
	const kernel *k = p->kernels[p->nodes[in->node].kernel].kernel;
	for (int i = 0; i < k->ninputs; i++)
		if (in->inputs[i] == state && !kernel_in_place(k, i))
			return false;
	return true;
}

static bool is_in_loop(const plan *p, int instr)
{
	return instr >= p->loop.begin && instr < p->loop.end;
}

/* Finds the MOVEs: fills after[t] with the number of MOVEs to insert after
 * instruction t, and when[tensor] with t, -1 for none.  Returns their number.
 *
 * A buffer that the body reads is in use up to the body's end, by the last
 * turn. */
static int find_updates(arena *tmp, const plan *p, int *after, int *when)
{
	int *writer = ARENA_ARRAY(tmp, int, p->nbuffers), n = 0;
	clock c = { ARENA_ARRAY(tmp, int, p->nbuffers), 0 };
	for (int b = 0; b < p->nbuffers; b++)
		c.reader[b] = writer[b] = -1;
	for (; c.now < p->ninstrs; c.now++) {
		plan_reads(p, &p->program[c.now], note_reader, &c);
		writer[p->program[c.now].to] = c.now;
	}
	for (int b = 0; b < p->nbuffers; b++)
		if (is_in_loop(p, c.reader[b]))
			c.reader[b] = p->loop.end - 1;
	for (int i = 0; i < p->ntensors; i++) {
		const plan_tensor *t = &p->tensors[i];
		when[i] = -1;
		if (t->role != PLAN_STATE || t->next < 0)
			continue;
		int w = writer[p->tensors[t->next].buffer];
		int r = c.reader[t->buffer];
		if (r < w || (r == w && !is_in_loop(p, w) &&
			      may_overwrite(p, &p->program[w], t->buffer)))
			continue;
		when[i] = r;
		after[r]++;
		n++;
	}
	return n;
}

void plan_update_states(arena *a, plan *p)
{
	arena *tmp = arena_new();
	int *after = ARENA_ARRAY(tmp, int, (size_t)p->ninstrs + 1);
	int *when = ARENA_ARRAY(tmp, int, p->ntensors);
	int n = find_updates(tmp, p, after, when), at = 0, before = 0;
	plan_instr *program = ARENA_ARRAY(a, plan_instr, p->ninstrs + n);
	for (int t = 0; t < p->ninstrs; t++) {
		int moves = after[t];
		before += t < p->loop.begin ? moves : 0;
		program[at++] = p->program[t];
		after[t] = at; /* where the next MOVE goes */
		at += moves;
	}
	for (int i = 0; i < p->ntensors; i++)
		if (when[i] >= 0)
			program[after[when[i]]++] = (plan_instr){
				.op = PLAN_MOVE,
				.node = -1,
				.from = p->tensors[p->tensors[i].next].buffer,
				.to = p->tensors[i].buffer,
				.collective = COLL_LOCAL,
			};
	p->program = program;
	p->ninstrs = at;
	p->loop.begin += before;
	p->loop.end += before;
	arena_free(tmp);
}
