#include "config.h"

#include "compiler/lower/schedule.h"

#include <stdlib.h>

#include "base/heap.h"

/* The desired distance in nodes between a node whose result is moved and its
 * reader, if enough nodes can run in between. */
enum { DISTANCE = 16 };

typedef struct queue {
	const jobs *x;
	const int *place;
	int *missing; /* by node: earlier nodes that have not run */
	int *ripe;    /* by node: once so many have run, it should not wait */
	VEC(int) *after; /* by node: nodes that it has to precede */
	heap ready, unripe; /* by place; by ripe, then by place */
} queue;

/* ---- what comes before what -------------------------------------------- */

static void add_order(queue *q, int first, int then)
{
	vec_push(q->x->tmp, &q->after[first], then);
	q->missing[then]++;
}

/* Adds the order constraints of a node.  It runs after the nodes that compute
 * its operands, and after readers of the state that it changes if they precede
 * it in the given order. */
static void add_node(queue *q, int n)
{
	const jobs *x = q->x;
	const sched_node *j = &x->jobs[n];
	for (int i = 0; i < j->nuses; i++) {
		int by = x->maker[j->uses[i].tensor];
		if (by >= 0)
			add_order(q, by, n);
	}
	for (int i = 0; j->state >= 0 && i < x->nreaders[j->state]; i++) {
		int r = x->readers[j->state][i];
		if (q->place[r] < q->place[n])
			add_order(q, r, n);
	}
}

/* ---- one after the other ----------------------------------------------- */

static void wait(queue *q, int n)
{
	heap_push(q->x->tmp, &q->unripe,
		  (heap_entry){ q->ripe[n], q->place[n], n });
}

static void become_ready(queue *q, int n)
{
	heap_push(q->x->tmp, &q->ready,
		  (heap_entry){ .key = q->place[n], .item = n });
}

/* Takes the next node when `now' nodes have run. */
static int take(queue *q, int now)
{
	while (q->unripe.entries.n > 0 && q->unripe.entries.at[0].key <= now)
		become_ready(q, heap_pop(&q->unripe).item);
	return heap_pop(q->ready.entries.n > 0 ? &q->ready : &q->unripe).item;
}

static void finish(queue *q, int n, int now)
{
	bool moves = q->x->jobs[n].made > 0;
	int out = q->x->p->nodes[n].output;
	for (int i = 0; i < q->after[n].n; i++) {
		int m = q->after[n].at[i];
		const sched_node *j = &q->x->jobs[m];
		for (int u = 0; u < j->nuses && moves; u++)
			if (j->uses[u].tensor == out)
				q->ripe[m] = now + DISTANCE;
		if (--q->missing[m] == 0)
			wait(q, m);
	}
}

int *schedule_overlapping(const jobs *x, const int *order)
{
	int n = x->p->nnodes;
	int *place = ARENA_ARRAY(x->tmp, int, n);
	int *to = ARENA_ARRAY(x->tmp, int, n);
	queue q = { .x = x, .place = place,
		    .missing = ARENA_ARRAY(x->tmp, int, n),
		    .ripe = ARENA_ARRAY(x->tmp, int, n),
		    .after = arena_calloc(x->tmp, (size_t)n,
					  sizeof(*q.after)) };
	for (int i = 0; i < n; i++)
		place[order[i]] = i;
	for (int i = 0; i < n; i++)
		add_node(&q, i);
	for (int i = 0; i < n; i++)
		if (q.missing[i] == 0)
			wait(&q, i);
	for (int i = 0; i < n; i++) {
		to[i] = take(&q, i);
		finish(&q, to[i], i + 1);
	}
	return to;
}
