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

/* The first instant at which most is in use, *nbytes; instants count from
 * -1. */
static int find_instant(const plan *p, const arena_item *items, int64_t *nbytes)
{
	arena *tmp = arena_new();
	int64_t *change = ARENA_ARRAY(tmp, int64_t, (size_t)p->ninstrs + 3);
	int64_t now = 0, most = -1;
	int found = -1;
	for (int b = 0; b < p->nbuffers; b++)
		if (items[b].nbytes > 0) {
			change[items[b].first + 1] += items[b].nbytes;
			change[items[b].last + 2] -= items[b].nbytes;
		}
	for (int t = -1; t <= p->ninstrs; t++) {
		now += change[t + 1];
		found = now > most ? t : found;
		most = now > most ? now : most;
	}
	arena_free(tmp);
	*nbytes = most;
	return found;
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
	/* Of those that share a place the last that has come. */
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
