/* The best placement that is found: all algorithms, the best of them improved
 * by local search.  So it is never worse than any of them, nor than one device
 * where that fits.
 *
 * Work is counted in simulations of operators and edges, so that the result is
 * always the same; a deadline only cuts it. */
#include "config.h"

#include "compiler/placement/figures.h"
#include "compiler/placement/improve.h"

#include <string.h>

enum {
	MOST_STARTS = 8,
	WORK = 60000000,   /* operators and edges simulated */
	LEAST_EVALUATIONS = 50,
	MOST_EVALUATIONS = 40000,
};

typedef struct start {
	int *place;
	place_cost cost;
} start;

/* The algorithms' placements, the best first; equal ones once. */
static int list_starts(arena *a, const place_task *t, start *starts)
{
	int n = 0;
	for (const place_algorithm *p = place_algorithms; p->name; p++) {
		if (p->run == place_best || n == MOST_STARTS)
			continue;
		start s = { .place = p->run(a, t) };
		if (!s.place)
			continue;
		s.cost = place_cost_of(t, s.place);
		int at = n;
		while (at > 0 && place_cost_less(s.cost, starts[at - 1].cost))
			at--;
		if (at > 0 && !place_cost_less(starts[at - 1].cost, s.cost))
			continue;
		for (int i = n++; i > at; i--)
			starts[i] = starts[i - 1];
		starts[at] = s;
	}
	return n;
}

/* Half of the evaluations improve the best start, and the rest the others: who
 * is behind at first may come out ahead. */
int *place_best(arena *a, const place_task *t)
{
	const cost_graph *g = t->m->g;
	start starts[MOST_STARTS];
	int n = list_starts(a, t, starts), best = 0;
	int64_t left = WORK / (g->nops + g->nedges);
	int64_t bound = place_bound(t->m).greatest;
	if (n == 0)
		return NULL;
	left = left > MOST_EVALUATIONS	? MOST_EVALUATIONS :
	       left < LEAST_EVALUATIONS ? LEAST_EVALUATIONS :
					  left;
	for (int i = 0; i < n && left > 1; i++) {
		int64_t share = i + 1 == n ? left : left / 4;
		left -= share;
		place_improve(t, starts[i].place, bound, &share,
			      (uint64_t)i + 1);
		left += share;
		starts[i].cost = place_cost_of(t, starts[i].place);
		if (place_cost_less(starts[i].cost, starts[best].cost))
			best = i;
	}
	place_improve(t, starts[best].place, bound, &left, 99);
	return starts[best].place;
}
