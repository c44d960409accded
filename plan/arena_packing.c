#include "config.h"

#include "plan/arena_packing.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checked.h"
enum {
	MOST_ROUNDS = 64,
	MOST_STEPS = 12000000,
	MOST_ITEMS = 4096, /* with more, only one order is tried */
	/* with more, only so many are searched for an item */
	MOST_GAPS = 4096,
};

/* An item to be sorted; index breaks ties, so that orders are total. */
typedef struct entry {
	int64_t nbytes; /* rounded up */
	int first, last, index;
} entry;

/* The bytes and the instants of an item that has been placed. */
typedef struct bytes {
	int64_t beg, end;
} bytes;

typedef struct instants {
	int first, last;
} instants;

typedef struct packer {
	int n;
	int64_t base;	  /* end of the items that live throughout */
	bytes *places;	  /* of those placed so far, by offset, .. */
	instants *times;  /* .. likewise */
	int *beside;	  /* those in use at the same time as an item */
	int64_t *offsets; /* by index of the item, of this attempt */
	int64_t *best;	  /* of the best attempt */
	int64_t best_top;
} packer;

static int by_size(const void *x, const void *y)
{
	const entry *a = x, *b = y;
	if (a->nbytes != b->nbytes)
		return a->nbytes > b->nbytes ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static int by_time(const void *x, const void *y)
{
	const entry *a = x, *b = y;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return by_size(x, y);
}

static int by_area(const void *x, const void *y)
{
	const entry *a = x, *b = y;
	double p = (double)a->nbytes * (a->last - a->first + 1.0);
	double q = (double)b->nbytes * (b->last - b->first + 1.0);
	if (p != q)
		return p > q ? -1 : 1;
	return by_size(x, y);
}

/* Fills k->beside; returns the number of items in it.  Most time is spent here,
 * on tests that no processor can predict, so they are written without
 * branches. */
static int find_beside(const packer *k, int nplaced, const entry *e)
{
	int n = 0;
	for (int i = 0; i < nplaced; i++) {
		const instants *t = &k->times[i];
		k->beside[n] = i;
		n += (t->last >= e->first) & (t->first <= e->last);
	}
	return n;
}

/* The offset of the smallest gap that holds e, among the items in use at the
 * same time. */
static int64_t best_fit(const packer *k, int nplaced, const entry *e)
{
	int64_t top = k->base, found = -1, least = INT64_MAX;
	int n = find_beside(k, nplaced, e);
	for (int i = 0; i < n; i++) {
		const bytes *b = &k->places[k->beside[i]];
		int64_t gap = b->beg - top;
		if (gap >= e->nbytes && gap < least) {
			found = top;
			least = gap;
		}
		if (b->end > top)
			top = b->end;
	}
	return found < 0 ? top : found;
}

static void insert(packer *k, int nplaced, const entry *e, bytes b)
{
	int lo = 0, hi = nplaced;
	while (lo < hi) {
		int mid = lo + (hi - lo) / 2;
		if (k->places[mid].beg <= b.beg)
			lo = mid + 1;
		else
			hi = mid;
	}
	size_t behind = (size_t)(nplaced - lo);
	memmove(k->places + lo + 1, k->places + lo, behind * sizeof(bytes));
	memmove(k->times + lo + 1, k->times + lo, behind * sizeof(instants));
	k->places[lo] = b;
	k->times[lo] = (instants){ e->first, e->last };
}

/* Places all items in the given order; keeps the result if it is the best.
 * Returns the position in the order of an item that reaches the top, -1 for
 * none. */
static int attempt(packer *k, const entry *order)
{
	int64_t top = k->base;
	int highest = -1;
	for (int i = 0; i < k->n; i++) {
		const entry *e = &order[i];
		int64_t at = best_fit(k, i, e), end = at + e->nbytes;
		insert(k, i, e, (bytes){ at, end });
		k->offsets[e->index] = at;
		if (end > top) {
			top = end;
			highest = i;
		}
	}
	if (top < k->best_top) {
		k->best_top = top;
		for (int i = 0; i < k->n; i++)
			k->best[order[i].index] = k->offsets[order[i].index];
	}
	return highest;
}

/* Repeatedly moves the items that end up on top to the front of the order. */
static void improve(packer *k, entry *order, int64_t bound)
{
	int64_t steps = (int64_t)k->n * k->n / 2 + 1;
	int64_t rounds = MOST_STEPS / steps;
	if (rounds > MOST_ROUNDS)
		rounds = MOST_ROUNDS;
	for (; rounds > 0 && k->best_top > bound; rounds--) {
		int highest = attempt(k, order);
		if (highest <= 0)
			return;
		entry e = order[highest];
		memmove(order + 1, order, (size_t)highest * sizeof(*order));
		order[0] = e;
	}
}

/* Stacks the items with the longest possible lifetime at the bottom; returns
 * the others in *rest and the end of the stack. */
static int64_t place_throughout(arena_item *items, int n, int64_t align,
				entry *rest, int *nrest)
{
	int first = n ? items[0].first : 0, last = n ? items[0].last : 0;
	for (int i = 1; i < n; i++) {
		first = items[i].first < first ? items[i].first : first;
		last = items[i].last > last ? items[i].last : last;
	}
	int64_t base = 0;
	*nrest = 0;
	for (int i = 0; i < n; i++) {
		arena_item *m = &items[i];
		int64_t size = round_up(m->nbytes, align);
		m->offset = 0;
		if (size > 0 && m->first == first && m->last == last) {
			m->offset = base;
			base += size;
		} else if (size > 0) {
			rest[(*nrest)++] =
				(entry){ size, m->first, m->last, i };
		}
	}
	return base;
}

/* Tries several orders and improves on the best. */
static void place_carefully(arena *tmp, packer *k, entry *order, int64_t bound)
{
	static int (*const orders[])(const void *, const void *) = {
		by_size, by_time, by_area
	};
	enum { NORDERS = sizeof(orders) / sizeof(*orders) };
	k->places = ARENA_ARRAY(tmp, bytes, k->n + 1);
	k->times = ARENA_ARRAY(tmp, instants, k->n + 1);
	k->beside = ARENA_ARRAY(tmp, int, k->n + 1);
	int winner = 0;
	for (int i = 0; i < NORDERS && k->best_top > bound; i++) {
		int64_t before = k->best_top;
		qsort(order, (size_t)k->n, sizeof(*order), orders[i]);
		attempt(k, order);
		winner = k->best_top < before ? i : winner;
	}
	qsort(order, (size_t)k->n, sizeof(*order), orders[winner]);
	improve(k, order, bound);
}

/* ---- many items -------------------------------------------------------- */

/* Bytes that are free now. */
typedef struct gap {
	int64_t beg, end;
} gap;

typedef struct gaps {
	gap *at; /* by offset, no two adjacent; the last has no end */
	int n;
} gaps;

/* Allocates bytes from the smallest gap that holds them. */
static int64_t gaps_take(gaps *g, int64_t nbytes)
{
	int found = g->n - 1;
	int64_t least = INT64_MAX;
	for (int i = 0; i < g->n - 1 && i < MOST_GAPS; i++) {
		int64_t size = g->at[i].end - g->at[i].beg;
		if (size >= nbytes && size < least) {
			found = i;
			least = size;
		}
	}
	int64_t beg = g->at[found].beg;
	g->at[found].beg += nbytes;
	if (least == nbytes) {
		g->n--;
		memmove(g->at + found, g->at + found + 1,
			(size_t)(g->n - found) * sizeof(gap));
	}
	return beg;
}

static void gaps_give(gaps *g, int64_t beg, int64_t end)
{
	int lo = 0, hi = g->n - 1; /* the first gap that is not below */
	while (lo < hi) {
		int mid = lo + (hi - lo) / 2;
		if (g->at[mid].beg < beg)
			lo = mid + 1;
		else
			hi = mid;
	}
	bool below = lo > 0 && g->at[lo - 1].end == beg;
	bool above = g->at[lo].beg == end;
	if (below && above) {
		g->at[lo - 1].end = g->at[lo].end;
		g->n--;
		memmove(g->at + lo, g->at + lo + 1,
			(size_t)(g->n - lo) * sizeof(gap));
	} else if (below) {
		g->at[lo - 1].end = end;
	} else if (above) {
		g->at[lo].beg = beg;
	} else {
		memmove(g->at + lo + 1, g->at + lo,
			(size_t)(g->n - lo) * sizeof(gap));
		g->n++;
		g->at[lo] = (gap){ beg, end };
	}
}

static int by_end(const void *x, const void *y)
{
	const entry *a = x, *b = y;
	if (a->last != b->last)
		return a->last < b->last ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Places items in the order of their allocation, as an allocator at run time
 * would. */
static void place_quickly(arena *tmp, packer *k, entry *order)
{
	entry *ends = ARENA_COPY(tmp, order, k->n);
	gaps room = { ARENA_ARRAY(tmp, gap, k->n + 1), 1 };
	int nfreed = 0;
	room.at[0] = (gap){ k->base, INT64_MAX };
	qsort(order, (size_t)k->n, sizeof(*order), by_time);
	qsort(ends, (size_t)k->n, sizeof(*ends), by_end);
	for (int i = 0; i < k->n; i++) {
		const entry *e = &order[i];
		for (; ends[nfreed].last < e->first; nfreed++) {
			int64_t at = k->best[ends[nfreed].index];
			gaps_give(&room, at, at + ends[nfreed].nbytes);
		}
		k->best[e->index] = gaps_take(&room, e->nbytes);
		if (room.at[room.n - 1].beg > k->best_top)
			k->best_top = room.at[room.n - 1].beg;
	}
}

/* ---- the arena --------------------------------------------------------- */

int64_t memory_place(arena_item *items, int n, int64_t align)
{
	arena *tmp = arena_new();
	entry *order = ARENA_ARRAY(tmp, entry, n);
	packer k = { .best_top = INT64_MAX };
	k.base = place_throughout(items, n, align, order, &k.n);
	k.offsets = ARENA_ARRAY(tmp, int64_t, n);
	k.best = ARENA_ARRAY(tmp, int64_t, n);
	if (k.n <= MOST_ITEMS) {
		place_carefully(tmp, &k, order, memory_bound(items, n, align));
	} else {
		k.best_top = k.base;
		place_quickly(tmp, &k, order);
	}
	for (int i = 0; i < k.n; i++)
		items[order[i].index].offset = k.best[order[i].index];
	arena_free(tmp);
	return k.best_top;
}

/* ---- lower bound ------------------------------------------------------- */

/* Bytes that come into use, or go out of use, at an instant. */
typedef struct event {
	int at;
	int64_t nbytes;
} event;

/* At one instant, ends of buffers come before beginnings. */
static int by_instant(const void *x, const void *y)
{
	const event *a = x, *b = y;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (a->nbytes > b->nbytes) - (a->nbytes < b->nbytes);
}

int64_t memory_bound(const arena_item *items, int n, int64_t align)
{
	arena *tmp = arena_new();
	event *events = ARENA_ARRAY(tmp, event, 2 * (size_t)n);
	for (int i = 0; i < n; i++) {
		int64_t size = round_up(items[i].nbytes, align);
		events[2 * i] = (event){ items[i].first, size };
		events[2 * i + 1] = (event){ items[i].last + 1, -size };
	}
	qsort(events, 2 * (size_t)n, sizeof(*events), by_instant);
	int64_t now = 0, most = 0;
	for (int i = 0; i < 2 * n; i++) {
		now += events[i].nbytes;
		most = now > most ? now : most;
	}
	arena_free(tmp);
	return most;
}
