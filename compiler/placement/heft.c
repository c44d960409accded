/* HEFT (Topcuoglu, Hariri, Wu 2002): places operators by upward rank.  Each
 * goes to the device where it ends first, in a gap between two others if it
 * fits.
 *
 * Transfers take time but do not wait for ports.  Memory is a limit on resident
 * bytes. */
#include "config.h"

#include "compiler/placement/task.h"

#include <string.h>

#include "base/heap.h"

/* Idle times of a device, in blocks of at most GAPS, so that the first one that
 * is long enough is found without looking at all.  A gap may be empty; the last
 * one never ends. */
enum { GAPS = 256 };

typedef struct gap {
	int64_t begin, end;
} gap;

typedef struct stretch {
	gap gaps[GAPS];
	int n;
	int64_t longest;
} stretch;

typedef struct idle {
	VEC(stretch *) blocks;
} idle;

typedef struct heft {
	const place_task *t;
	arena *a; /* scratch memory */
	int64_t *rank, *end;
	int *place;
	idle *idle; /* by device */
	place_room room;
	heap ready; /* greatest rank first */
} heft;

static void measure(stretch *b)
{
	b->longest = 0;
	for (int i = 0; i < b->n; i++)
		if (b->gaps[i].end - b->gaps[i].begin > b->longest)
			b->longest = b->gaps[i].end - b->gaps[i].begin;
}

typedef struct slot {
	int block, gap;
	int64_t begin;
} slot;

/* The earliest time from `ready' on at which the device is idle for ns. */
static slot first_fit(const idle *d, int64_t ready, int64_t ns)
{
	int low = 0, high = d->blocks.n - 1;
	while (low < high) { /* find the first block that ends after `ready' */
		int mid = (low + high) / 2;
		const stretch *b = d->blocks.at[mid];
		if (b->gaps[b->n - 1].end < ready)
			low = mid + 1;
		else
			high = mid;
	}
	for (int i = low; i < d->blocks.n; i++) {
		const stretch *b = d->blocks.at[i];
		for (int k = 0; b->longest >= ns && k < b->n; k++) {
			int64_t at = b->gaps[k].begin;
			at = at > ready ? at : ready;
			if (at <= b->gaps[k].end && b->gaps[k].end - at >= ns)
				return (slot){ i, k, at };
		}
	}
	return (slot){ -1, -1, -1 };
}

/* Splits a full block in two. */
static void split(heft *h, idle *d, int i)
{
	stretch *b = d->blocks.at[i], *new = ARENA_NEW(h->a, stretch);
	b->n = GAPS / 2;
	new->n = GAPS - b->n;
	memcpy(new->gaps, b->gaps + b->n, sizeof(gap) * (size_t)new->n);
	measure(b);
	measure(new);
	vec_push(h->a, &d->blocks, new);
	for (int k = d->blocks.n - 1; k > i + 1; k--)
		d->blocks.at[k] = d->blocks.at[k - 1];
	d->blocks.at[i + 1] = new;
}

/* Marks the device as busy from s.begin on for ns. */
static void fill(heft *h, idle *d, slot s, int64_t ns)
{
	stretch *b = d->blocks.at[s.block];
	gap g = b->gaps[s.gap];
	memmove(b->gaps + s.gap + 1, b->gaps + s.gap,
		sizeof(gap) * (size_t)(b->n - s.gap));
	b->n++;
	b->gaps[s.gap].end = s.begin;
	b->gaps[s.gap + 1].begin = s.begin + ns;
	if (b->n == GAPS)
		split(h, d, s.block);
	else if (b->longest == g.end - g.begin)
		measure(b);
}

/* ---- the algorithm ------------------------------------------------------- */

static void push(heft *h, int v)
{
	heap_push(h->a, &h->ready, (heap_entry){ -h->rank[v], 0, v });
}

/* When everything that v reads can be on device d. */
static int64_t ready_at(const heft *h, int v, int d)
{
	const cost_graph *g = h->t->m->g;
	int64_t at = 0;
	for (int e = g->first_pred[v]; e < g->first_pred[v + 1]; e++) {
		int p = g->pred[e].op;
		int64_t t = h->end[p] + machine_move(h->t->m, g->pred[e].result,
						     h->place[p], d);
		at = t > at ? t : at;
	}
	return at;
}

static bool place_op(heft *h, int v)
{
	const machine *m = h->t->m;
	int64_t first = INT64_MAX;
	slot best = { 0 };
	for (int d = 0; d < m->ndevices; d++) {
		int64_t ns = machine_ns(m, v, d);
		if (!place_has_room(&h->room, v, d))
			continue;
		slot s = first_fit(&h->idle[d], ready_at(h, v, d), ns);
		if (s.begin + ns < first) {
			first = s.begin + ns;
			best = s;
			h->place[v] = d;
		}
	}
	if (first == INT64_MAX)
		return false;
	int64_t ns = machine_ns(m, v, h->place[v]);
	place_take_room(&h->room, v, h->place[v]);
	h->end[v] = first;
	if (ns > 0)
		fill(h, &h->idle[h->place[v]], best, ns);
	return true;
}

static bool place_all(heft *h)
{
	const cost_graph *g = h->t->m->g;
	int *left = ARENA_ARRAY(h->a, int, g->nops);
	for (int v = 0; v < g->nops; v++) {
		left[v] = g->first_pred[v + 1] - g->first_pred[v];
		if (left[v] == 0)
			push(h, v);
	}
	while (h->ready.entries.n > 0) {
		int v = heap_pop(&h->ready).item;
		if (!place_op(h, v))
			return false;
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++)
			if (--left[g->succ[e].op] == 0)
				push(h, g->succ[e].op);
	}
	return true;
}

int *place_heft(arena *a, const place_task *t)
{
	int n = t->m->g->nops, k = t->m->ndevices;
	arena *work = arena_new();
	heft h = { .t = t, .a = work,
		   .rank = place_ranks(work, t->m, place_expected_move),
		   .end = ARENA_ARRAY(work, int64_t, n),
		   .place = ARENA_ARRAY(a, int, n),
		   .idle = ARENA_ARRAY(work, idle, k),
		   .room = place_room_new(work, t) };
	for (int d = 0; d < k; d++) {
		stretch *b = ARENA_NEW(work, stretch);
		b->gaps[b->n++] = (gap){ 0, INT64_MAX };
		b->longest = INT64_MAX;
		vec_push(work, &h.idle[d].blocks, b);
	}
	bool good = place_all(&h);
	arena_free(work);
	return good ? h.place : NULL;
}
