#include "config.h"

#include "plan/peak.h"

#include <stdlib.h>

static int by_size(const void *x, const void *y)
{
	const plan_use *a = x, *b = y;
	if (a->nbytes != b->nbytes)
		return a->nbytes > b->nbytes ? -1 : 1;
	return a->buffer - b->buffer;
}

/* Adds to now[t + 1], for each instant t from -1 to ninstrs, the bytes of the
 * items in use at t whose kind[b] is `which', or of all items if kind is
 * NULL. */
static void add_up(const plan *p, const arena_item *items, const int *kind,
		   int which, int64_t *now)
{
	for (int b = 0; b < p->nbuffers; b++)
		if (items[b].nbytes > 0 && (!kind || kind[b] == which)) {
			now[items[b].first + 1] += items[b].nbytes;
			now[items[b].last + 2] -= items[b].nbytes;
		}
	for (int t = 0; t <= p->ninstrs; t++)
		now[t + 1] += now[t];
}

/* The first instant of greatest use, counted from -1; *nbytes receives the
 * use. */
static int find_instant(const plan *p, const arena_item *items, int64_t *nbytes)
{
	arena *tmp = arena_new();
	int64_t *now = ARENA_ARRAY(tmp, int64_t, (size_t)p->ninstrs + 3);
	int found = -1;
	add_up(p, items, NULL, 0, now);
	for (int t = -1; t <= p->ninstrs; t++)
		found = now[t + 1] > now[found + 1] ? t : found;
	*nbytes = now[found + 1];
	arena_free(tmp);
	return found;
}

void plan_use_in_time(arena *a, const plan *p, const int *kind, int nkinds,
		      int64_t **used)
{
	arena *tmp = arena_new();
	plan_places x = plan_find_places(tmp, p,
					 layout_classes_new(tmp, &p->mesh));
	for (int k = 0; k < nkinds; k++) {
		used[k] = ARENA_ARRAY(a, int64_t, (size_t)p->ninstrs + 3);
		add_up(p, x.items, kind, k, used[k]);
	}
	arena_free(tmp);
}

int64_t plan_peak_bytes(const plan *p, layout_classes *f)
{
	arena *tmp = arena_new();
	int64_t nbytes;
	plan_places x = plan_find_places(tmp, p, f);
	find_instant(p, x.items, &nbytes);
	arena_free(tmp);
	return nbytes;
}

plan_peak plan_find_peak(arena *a, const plan *p)
{
	arena *tmp = arena_new();
	layout_classes *f = layout_classes_new(tmp, &p->mesh);
	plan_places x = plan_find_places(tmp, p, f);
	lifetime *l = plan_lifetimes(tmp, p);
	int *holder = ARENA_ARRAY(tmp, int, p->nbuffers);
	plan_peak peak = { 0 };
	int t = peak.instr = find_instant(p, x.items, &peak.nbytes);
	/* Of the buffers that share a place, the last that has begun. */
	for (int b = 0; b < p->nbuffers; b++) {
		int *h = &holder[x.group[b]];
		bool came = l[b].first <= t;
		if (came && (*h == 0 || l[b].first > l[*h - 1].first))
			*h = b + 1;
	}
	peak.uses = ARENA_ARRAY(a, plan_use, p->nbuffers);
	for (int b = 0; b < p->nbuffers; b++) {
		const arena_item *m = &x.items[b];
		if (m->nbytes == 0 || m->first > t || m->last < t)
			continue;
		int holds = holder[b] ? holder[b] - 1 : b;
		peak.uses[peak.n++] = (plan_use){ holds, m->nbytes };
	}
	qsort(peak.uses, (size_t)peak.n, sizeof(*peak.uses), by_size);
	arena_free(tmp);
	return peak;
}
