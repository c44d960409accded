/* m-ETF of Baechi (Jeon et al., SoCC 2020).  Of all ready operators and devices
 * with room, it takes the pair that can begin first.  Ties go to the longest
 * path to the end, then the lower operator, then the lower device.
 *
 * Each device has two heaps of ready operators: those whose operands are there
 * before the device is free, by longest path, and later ones, by time.  So each
 * step looks only at the tops.  Operators that another device has taken are
 * dropped when they come up.  O(K (V + E) log V).
 *
 * m-SCT of the same paper gives operators favourite children (Hanen, Munier
 * 1995).  A device whose last operator has one that is not placed yet is
 * reserved for it, as long as the child would take to move to another
 * device. */
#include "config.h"

#include "compiler/placement/task.h"

#include "base/vec.h"

typedef struct entry {
	int64_t when; /* when its operands are there */
	int op;
} entry;

typedef VEC(entry) entries;

typedef struct metf {
	const place_task *t;
	arena *a;
	int64_t *rank, *end;
	int64_t *free; /* by device: end of its last operator */
	entries *now, *later; /* by device: heaps */
	int *place, *left;
	place_room room;
	const int *favourite; /* by operator: an edge, or -1; may be NULL */
	int *last;	      /* by device: its last operator; -1 */
} metf;

static bool before(const metf *s, bool by_time, entry a, entry b)
{
	if (by_time && a.when != b.when)
		return a.when < b.when;
	return s->rank[a.op] != s->rank[b.op] ?
		       s->rank[a.op] > s->rank[b.op] :
		       a.op < b.op;
}

static void push(metf *s, entries *h, bool by_time, entry x)
{
	vec_push(s->a, h, x);
	int i = h->n - 1;
	for (int p; i > 0 && before(s, by_time, x, h->at[p = (i - 1) / 2]);
	     i = p)
		h->at[i] = h->at[p];
	h->at[i] = x;
}

static void pop(metf *s, entries *h, bool by_time)
{
	entry x = h->at[--h->n];
	int i = 0;
	for (int c; (c = 2 * i + 1) < h->n; i = c) {
		c += c + 1 < h->n &&
		     before(s, by_time, h->at[c + 1], h->at[c]);
		if (!before(s, by_time, h->at[c], x))
			break;
		h->at[i] = h->at[c];
	}
	if (h->n > 0)
		h->at[i] = x;
}

/* Removes operators from the top that are placed or have no room on d any
 * more. */
static void clean(metf *s, entries *h, bool by_time, int d)
{
	while (h->n > 0 && (s->place[h->at[0].op] >= 0 ||
			    !place_has_room(&s->room, h->at[0].op, d)))
		pop(s, h, by_time);
}

/* When everything that v reads can be on device d. */
static int64_t ready_at(const metf *s, int v, int d)
{
	const cost_graph *g = s->t->m->g;
	int64_t at = 0;
	for (int e = g->first_pred[v]; e < g->first_pred[v + 1]; e++) {
		int p = g->pred[e].op;
		int64_t t = s->end[p] + machine_move(s->t->m,
						     g->pred[e].result,
						     s->place[p], d);
		at = t > at ? t : at;
	}
	return at;
}

/* The child for which device d is reserved until *until; -1. */
static int awaited(const metf *s, int d, int64_t *until)
{
	int e = s->favourite && s->last[d] >= 0 ? s->favourite[s->last[d]] : -1;
	const cost_edge *x = &s->t->m->g->succ[e < 0 ? 0 : e];
	*until = s->free[d];
	if (e < 0 || s->place[x->op] >= 0)
		return -1;
	*until += place_mean_move(s->t->m, x->result);
	return x->op;
}

/* Moves to `now' the operators whose operands are there by `until' and that can
 * be placed; the tops are up to date afterwards. */
static void sort_out(metf *s, int d, int64_t until)
{
	entries *now = &s->now[d], *later = &s->later[d];
	clean(s, now, false, d);
	while (now->n > 0 && now->at[0].when > until) {
		push(s, later, true, now->at[0]);
		pop(s, now, false);
		clean(s, now, false, d);
	}
	clean(s, later, true, d);
	while (later->n > 0 && later->at[0].when <= until) {
		push(s, now, false, later->at[0]);
		pop(s, later, true);
		clean(s, later, true, d);
	}
}

/* The operator that can begin first on d, and when; -1. */
static int first_on(metf *s, int d, int64_t *begin)
{
	int64_t until;
	int child = awaited(s, d, &until), v = -1;
	*begin = INT64_MAX;
	sort_out(s, d, until);
	if (s->now[d].n > 0) {
		v = s->now[d].at[0].op;
		*begin = until;
	} else if (s->later[d].n > 0) {
		v = s->later[d].at[0].op;
		*begin = s->later[d].at[0].when;
	}
	if (child >= 0 && s->left[child] == 0 &&
	    place_has_room(&s->room, child, d)) {
		int64_t at = ready_at(s, child, d);
		at = at > s->free[d] ? at : s->free[d];
		if (v < 0 || v == child || at < *begin ||
		    (at == *begin && before(s, false, (entry){ 0, child },
					    (entry){ 0, v }))) {
			v = child;
			*begin = at;
		}
	}
	return v;
}

static void make_ready(metf *s, int v)
{
	for (int d = 0; d < s->t->m->ndevices; d++) {
		int64_t at = ready_at(s, v, d);
		if (at <= s->free[d])
			push(s, &s->now[d], false, (entry){ at, v });
		else
			push(s, &s->later[d], true, (entry){ at, v });
	}
}

/* Places the pair that can begin first.  Returns the operator, -1 if there is
 * none. */
static int place_next(metf *s)
{
	int best = -1, on = -1;
	int64_t first = INT64_MAX;
	for (int d = 0; d < s->t->m->ndevices; d++) {
		int64_t begin;
		int v = first_on(s, d, &begin);
		if (v < 0 || (best >= 0 && begin > first))
			continue;
		if (best < 0 || begin < first ||
		    before(s, false, (entry){ 0, v }, (entry){ 0, best })) {
			first = begin;
			best = v;
			on = d;
		}
	}
	if (best < 0)
		return -1;
	s->place[best] = on;
	s->end[best] = first + machine_ns(s->t->m, best, on);
	s->free[on] = s->end[best];
	s->last[on] = best;
	place_take_room(&s->room, best, on);
	return best;
}

int *place_earliest(arena *a, const place_task *t, const int *favourite)
{
	const cost_graph *g = t->m->g;
	int n = g->nops, k = t->m->ndevices, placed = 0;
	arena *work = arena_new();
	metf s = { .t = t, .a = work,
		   .rank = place_ranks(work, t->m, place_mean_move),
		   .end = ARENA_ARRAY(work, int64_t, n),
		   .free = ARENA_ARRAY(work, int64_t, k),
		   .now = ARENA_ARRAY(work, entries, k),
		   .later = ARENA_ARRAY(work, entries, k),
		   .place = ARENA_ARRAY(a, int, n),
		   .left = ARENA_ARRAY(work, int, n),
		   .last = ARENA_ARRAY(work, int, k),
		   .favourite = favourite,
		   .room = place_room_new(work, t) };
	for (int d = 0; d < k; d++)
		s.last[d] = -1;
	for (int v = 0; v < n; v++) {
		s.place[v] = -1;
		s.left[v] = g->first_pred[v + 1] - g->first_pred[v];
	}
	for (int v = 0; v < n; v++)
		if (s.left[v] == 0)
			make_ready(&s, v);
	for (int v; (v = place_next(&s)) >= 0; placed++)
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++)
			if (--s.left[g->succ[e].op] == 0)
				make_ready(&s, g->succ[e].op);
	arena_free(work);
	return placed == n ? s.place : NULL;
}

int *place_metf(arena *a, const place_task *t)
{
	return place_earliest(a, t, NULL);
}
