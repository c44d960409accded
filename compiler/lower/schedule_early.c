#include "config.h"

#include "compiler/lower/schedule.h"

#include "base/heap.h"

typedef struct runner {
	const jobs *x;
	liveness liveness;
	bool *done;
	int *missing; /* by node: inputs not computed yet */
	int *last;    /* by tensor: xor of the readers that have not run */
	const int *place;
	heap ready, blocked; /* ordered by place */
	VEC(int) first; /* can run now without increasing memory */
} runner;

/* A node that would overwrite a state waits for the state's readers. */
static bool is_blocked(const runner *r, int n)
{
	int state = r->x->jobs[n].state;
	return state >= 0 && !liveness_may_update(&r->liveness, state, n);
}

/* Puts a node first if it can run and does not increase the memory in use. */
static void consider(runner *r, int n)
{
	if (!r->done[n] && r->missing[n] == 0 && !is_blocked(r, n) &&
	    liveness_change(&r->liveness, n) <= 0)
		vec_push(r->x->tmp, &r->first, n);
}

static void put(runner *r, heap *h, int n)
{
	heap_push(r->x->tmp, h, (heap_entry){ .key = r->place[n], .item = n });
}

static void become_ready(runner *r, int n)
{
	put(r, is_blocked(r, n) ? &r->blocked : &r->ready, n);
	consider(r, n);
}

/* Considers nodes that waited for the readers of a state. */
static void unblock(runner *r, int state)
{
	int next = r->x->p->tensors[state].next;
	if (r->x->p->tensors[state].role != PLAN_STATE || next < 0)
		return;
	int n = r->x->maker[next];
	if (!r->done[n] && r->missing[n] == 0 && !is_blocked(r, n)) {
		put(r, &r->ready, n);
		consider(r, n);
	}
}

static void run(runner *r, int n)
{
	const jobs *x = r->x;
	const sched_node *j = &x->jobs[n];
	int out = x->p->nodes[n].output;
	liveness_run(&r->liveness, n);
	r->done[n] = true;
	for (int i = 0; i < j->nuses; i++) {
		int t = j->uses[i].tensor;
		r->last[t] ^= n;
		if (r->liveness.left[t] == 1)
			consider(r, r->last[t]);
		if (r->liveness.left[t] <= 1)
			unblock(r, t);
	}
	for (int i = 0; i < x->nreaders[out]; i++)
		if (--r->missing[x->readers[out][i]] == 0)
			become_ready(r, x->readers[out][i]);
}

/* The next node: one that does not increase memory, else the first that is
 * ready, else the first that would overwrite a state. */
static int take(runner *r)
{
	while (r->first.n > 0) {
		int n = r->first.at[--r->first.n];
		if (!r->done[n])
			return n;
	}
	while (r->ready.entries.n > 0) {
		int n = heap_pop(&r->ready).item;
		if (!r->done[n])
			return n;
	}
	for (;;) {
		int n = heap_pop(&r->blocked).item;
		if (!r->done[n])
			return n;
	}
}

static void start(runner *r)
{
	const jobs *x = r->x;
	const plan *p = x->p;
	for (int n = 0; n < p->nnodes; n++)
		for (int i = 0; i < x->jobs[n].nuses; i++) {
			int t = x->jobs[n].uses[i].tensor;
			r->last[t] ^= n;
			r->missing[n] += p->tensors[t].role == PLAN_RESULT;
		}
	for (int n = 0; n < p->nnodes; n++)
		if (r->missing[n] == 0)
			become_ready(r, n);
}

int *schedule_early(const jobs *x, const int *order)
{
	int nnodes = x->p->nnodes, *place = ARENA_ARRAY(x->tmp, int, nnodes);
	int *out = ARENA_ARRAY(x->tmp, int, nnodes);
	runner r = { .x = x, .liveness = liveness_new(x), .place = place };
	r.done = ARENA_ARRAY(x->tmp, bool, nnodes);
	r.missing = ARENA_ARRAY(x->tmp, int, nnodes);
	r.last = ARENA_ARRAY(x->tmp, int, x->p->ntensors);
	for (int i = 0; i < nnodes; i++)
		place[order[i]] = i;
	start(&r);
	for (int i = 0; i < nnodes; i++) {
		out[i] = take(&r);
		run(&r, out[i]);
	}
	return out;
}
