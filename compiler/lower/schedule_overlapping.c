#include "config.h"

#include "compiler/lower/schedule.h"

#include <stdlib.h>

/* So many other nodes run, if there are, before one that reads what has to be
 * moved after it was computed. */
enum { PATIENCE = 16 };

/* A node that could run, and when it should not have to wait. */
typedef struct waiter {
	int node;
	int ripe;  /* when so many nodes have run */
	int place; /* in the order that is given */
} waiter;

/* Waiters, the first on top. */
typedef struct heap {
	int n;
	waiter *at;
	bool by_place; /* else by when they are ripe */
} heap;

typedef struct queue {
	const jobs *x;
	const int *place;
	int *missing; /* by node: those that have to run before */
	int *ripe;    /* by node */
	VEC(int) *after; /* by node: those that it has to run before */
	heap ready, unripe;
} queue;

/* ---- heaps ------------------------------------------------------------- */

static bool goes_before(const heap *h, const waiter *x, const waiter *y)
{
	if (!h->by_place && x->ripe != y->ripe)
		return x->ripe < y->ripe;
	return x->place < y->place;
}

static void heap_put(heap *h, waiter w)
{
	int i = h->n++;
	for (; i > 0 && goes_before(h, &w, &h->at[(i - 1) / 2]);
	     i = (i - 1) / 2)
		h->at[i] = h->at[(i - 1) / 2];
	h->at[i] = w;
}

static waiter heap_take(heap *h)
{
	waiter top = h->at[0], w = h->at[--h->n];
	int i = 0;
	for (int down = 1; down < h->n; down = 2 * i + 1) {
		if (down + 1 < h->n &&
		    goes_before(h, &h->at[down + 1], &h->at[down]))
			down++;
		if (!goes_before(h, &h->at[down], &w))
			break;
		h->at[i] = h->at[down];
		i = down;
	}
	h->at[i] = w;
	return top;
}

/* ---- what comes before what -------------------------------------------- */

static void add_order(queue *q, int first, int then)
{
	vec_push(q->x->tmp, &q->after[first], then);
	q->missing[then]++;
}

/* Adds the constraints of a node: its operands are there, and readers of the
 * state that it changes which come before it in the given order still do. */
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
	heap_put(&q->unripe, (waiter){ n, q->ripe[n], q->place[n] });
}

static int take(queue *q, int now)
{
	while (q->unripe.n > 0 && q->unripe.at[0].ripe <= now)
		heap_put(&q->ready, heap_take(&q->unripe));
	return heap_take(q->ready.n > 0 ? &q->ready : &q->unripe).node;
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
				q->ripe[m] = now + PATIENCE;
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
					  sizeof(*q.after)),
		    .ready = { .at = ARENA_ARRAY(x->tmp, waiter, n),
			       .by_place = true },
		    .unripe = { .at = ARENA_ARRAY(x->tmp, waiter, n) } };
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
