/* List scheduling with contention.  Operators are placed by upward rank.  Each
 * goes to the device where it ends first if the results it lacks there are sent
 * one after another, through ports that others may have taken already.
 *
 * HEFT (heft.c) lets transfers pass each other.  So with ports it spreads work
 * that then waits for operands.  This follows the model of Sinnen and Sousa
 * 2005, with ports in place of links. */
#include "config.h"

#include "compiler/placement/task.h"

#include <stdlib.h>

typedef struct need {
	int64_t ready; /* the producer has ended */
	int op, result;
} need;

/* A result on a device other than its producer's. */
typedef struct copy {
	int result, device;
	int64_t there; /* end of its transfer; -1: an empty place */
} copy;

typedef struct lister {
	const place_task *t;
	const machine *m;
	const cost_graph *g;
	int64_t *rank, *end;
	int *place;
	int64_t *free, *sends, *receives; /* by device: busy until then */
	int64_t *sends_then; /* the same including a trial's transfers */
	copy *copies; /* a hash table with open addressing */
	uint64_t mask;
	need *needs;
	place_room room;
} lister;

static int by_ready(const void *a, const void *b)
{
	const need *x = a, *y = b;
	if (x->ready != y->ready)
		return x->ready < y->ready ? -1 : 1;
	return (x->result > y->result) - (x->result < y->result);
}

static copy *find_copy(const lister *s, int result, int device)
{
	uint64_t at = ((uint64_t)result * 0x9e3779b97f4a7c15u) >> 20;
	for (at += (uint64_t)device;; at++) {
		copy *c = &s->copies[at & s->mask];
		if (c->there < 0 ||
		    (c->result == result && c->device == device))
			return c;
	}
}

/* Allocates room for all possible copies, at most one for each edge. */
static void make_copies(lister *s, arena *a)
{
	uint64_t n = 16;
	while (n < 2 * (uint64_t)s->g->nedges)
		n *= 2;
	s->mask = n - 1;
	s->copies = ARENA_ARRAY(a, copy, n);
	for (uint64_t i = 0; i < n; i++)
		s->copies[i].there = -1;
}

/* When the operator with these needs can begin on d.  commit: make its
 * transfers. */
static int64_t begin_on(lister *s, int d, int nneeds, bool commit)
{
	int64_t at = s->free[d], receives = s->receives[d];
	for (int i = 0; i < nneeds; i++)
		s->sends_then[s->place[s->needs[i].op]] =
			s->sends[s->place[s->needs[i].op]];
	for (int i = 0; i < nneeds; i++) {
		const need *x = &s->needs[i];
		int from = s->place[x->op];
		copy *c = find_copy(s, x->result, d);
		int64_t t = x->ready;
		if (from != d && c->there >= 0) {
			t = c->there;
		} else if (from != d) {
			if (s->m->ports && s->sends_then[from] > t)
				t = s->sends_then[from];
			if (s->m->ports && receives > t)
				t = receives;
			t += machine_move(s->m, x->result, from, d);
			s->sends_then[from] = receives = t;
			if (commit) {
				s->sends[from] = s->receives[d] = t;
				*c = (copy){ x->result, d, t };
			}
		}
		at = t > at ? t : at;
	}
	return at;
}

static bool place_op(lister *s, int v)
{
	const cost_graph *g = s->g;
	int n = 0, best = -1;
	int64_t first = INT64_MAX;
	for (int e = g->first_pred[v]; e < g->first_pred[v + 1]; e++)
		s->needs[n++] = (need){ s->end[g->pred[e].op], g->pred[e].op,
					g->pred[e].result };
	qsort(s->needs, (size_t)n, sizeof(*s->needs), by_ready);
	for (int d = 0; d < s->m->ndevices; d++) {
		if (!place_has_room(&s->room, v, d))
			continue;
		int64_t end = begin_on(s, d, n, false) +
			      machine_ns(s->m, v, d);
		if (end < first) {
			first = end;
			best = d;
		}
	}
	if (best < 0)
		return false;
	begin_on(s, best, n, true);
	s->place[v] = best;
	s->end[v] = s->free[best] = first;
	place_take_room(&s->room, v, best);
	return true;
}

typedef struct ranked {
	int64_t rank;
	int position, op;
} ranked;

static int by_rank(const void *a, const void *b)
{
	const ranked *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return (x->position > y->position) - (x->position < y->position);
}

/* The operators by rank.  This is a topological order: a reader's rank is never
 * greater, and equal ranks are in topological order. */
static ranked *ranking(arena *a, const machine *m)
{
	int64_t *rank = place_ranks(a, m, place_expected_move);
	ranked *list = ARENA_ARRAY(a, ranked, m->g->nops);
	for (int i = 0; i < m->g->nops; i++)
		list[i] = (ranked){ rank[m->g->order[i]], i, m->g->order[i] };
	qsort(list, (size_t)m->g->nops, sizeof(*list), by_rank);
	return list;
}

int *place_list(arena *a, const place_task *t)
{
	const cost_graph *g = t->m->g;
	int k = t->m->ndevices;
	arena *work = arena_new();
	lister s = { .t = t, .m = t->m, .g = g,
		     .end = ARENA_ARRAY(work, int64_t, g->nops),
		     .place = ARENA_ARRAY(a, int, g->nops),
		     .free = ARENA_ARRAY(work, int64_t, k),
		     .sends = ARENA_ARRAY(work, int64_t, k),
		     .receives = ARENA_ARRAY(work, int64_t, k),
		     .sends_then = ARENA_ARRAY(work, int64_t, k),
		     .needs = ARENA_ARRAY(work, need, g->nedges),
		     .room = place_room_new(work, t) };
	const ranked *order = ranking(work, t->m);
	bool good = true;
	make_copies(&s, work);
	for (int i = 0; i < g->nops && good; i++)
		good = place_op(&s, order[i].op);
	arena_free(work);
	return good ? s.place : NULL;
}
