/* Plans with a loop as plans without: what runs a plan, and what checks it,
 * sees each turn's instructions and buffers apart. */
#include "config.h"

#include <string.h>

#include "base/vec.h"
#include "plan/plan.h"

typedef struct unroller {
	arena *a;
	const plan *p;
	VEC(plan_buffer) buffers;
	VEC(plan_instr) program;
	bool *made; /* by buffer of p: the body writes it */
	int *now;   /* by buffer of p: its number in the turn at hand */
} unroller;

static void put(unroller *u, int i, int turn)
{
	plan_instr in = u->p->program[i];
	const plan *p = u->p;
	if (in.op == PLAN_RUN) {
		const plan_node *n = &p->nodes[in.node];
		int ninputs = p->kernels[n->kernel].kernel->ninputs;
		int *inputs = ARENA_ARRAY(u->a, int, ninputs);
		for (int j = 0; j < ninputs; j++)
			inputs[j] = u->now[in.inputs[j]];
		in.inputs = inputs;
	}
	if (plan_moves(&in))
		in.from = u->now[in.from];
	in.to = u->now[in.to];
	in.turn = turn;
	vec_push(u->a, &u->program, in);
}

/* The last turn has the buffers of p itself. */
static void put_turn(unroller *u, int turn, bool last)
{
	const plan *p = u->p;
	for (int b = 0; b < p->nbuffers; b++) {
		if (!u->made[b])
			continue;
		u->now[b] = last ? b : u->buffers.n;
		if (last)
			continue;
		plan_buffer own = p->buffers[b];
		own.turn = turn;
		vec_push(u->a, &u->buffers, own);
	}
	for (int i = p->loop.begin; i < p->loop.end; i++)
		put(u, i, turn);
	for (int t = 0; t < p->ntensors; t++) {
		const plan_tensor *x = &p->tensors[t];
		if (x->then >= 0)
			u->now[x->buffer] = u->now[p->tensors[x->then].buffer];
	}
}

const plan *plan_unroll(arena *a, const plan *p, int most)
{
	const plan_loop *o = &p->loop;
	if (o->turns == 0)
		return p;
	unroller u = { .a = a, .p = p };
	u.made = ARENA_ARRAY(a, bool, p->nbuffers);
	u.now = ARENA_ARRAY(a, int, p->nbuffers);
	for (int b = 0; b < p->nbuffers; b++) {
		u.now[b] = b;
		vec_push(a, &u.buffers, p->buffers[b]);
	}
	for (int i = o->begin; i < o->end; i++)
		u.made[p->program[i].to] = true;
	for (int i = 0; i < o->begin; i++)
		put(&u, i, o->turns - 1);
	for (int turn = 0; turn < o->turns - 1 && turn < most - 1; turn++)
		put_turn(&u, turn, false);
	put_turn(&u, o->turns - 1, true);
	for (int i = o->end; i < p->ninstrs; i++)
		put(&u, i, o->turns - 1);
	plan *all = ARENA_COPY(a, p, 1);
	all->buffers = u.buffers.at;
	all->nbuffers = u.buffers.n;
	all->program = u.program.at;
	all->ninstrs = u.program.n;
	all->loop.begin = all->loop.end = 0;
	return all;
}

int plan_rolled_instr(const plan *p, int most, int i)
{
	const plan_loop *o = &p->loop;
	int length = o->end - o->begin;
	int copies = o->turns < most ? o->turns : most;
	if (i < o->begin || length == 0)
		return i;
	int before = (i - o->begin) / length;
	return i - (before < copies ? before : copies - 1) * length;
}

int plan_rolled_buffer(const plan *p, int b)
{
	arena *tmp = arena_new();
	bool *made = ARENA_ARRAY(tmp, bool, p->nbuffers);
	int n = 0, found = b;
	for (int i = p->loop.begin; i < p->loop.end; i++) {
		n += !made[p->program[i].to];
		made[p->program[i].to] = true;
	}
	if (b >= p->nbuffers && n > 0) {
		int nth = (b - p->nbuffers) % n;
		for (found = 0; nth > 0 || !made[found]; found++)
			nth -= made[found];
	}
	arena_free(tmp);
	return found;
}
