/* The best placement found: the best result of all algorithms, improved by
 * local search.  So it is never worse than any of them, nor than one device
 * where that fits.
 *
 * Work is counted in simulations of operators and edges, so that the result is
 * always the same; a deadline only cuts it short. */
#include "config.h"

#include "compiler/placement/figures.h"
#include "compiler/placement/improve.h"

#include <string.h>

enum {
	MOST_STARTS = 6,
	WORK = 60000000,   /* operators and edges simulated */
	LEAST_EVALUATIONS = 50,
	MOST_EVALUATIONS = 40000,
};

typedef struct start {
	int *place;
	place_cost cost;
} start;

/* Keeps a placement if it is among the best, which are in order; of equal ones
 * the first. */
static int keep_start(const place_task *t, start *starts, int n, int *place)
{
	start s = { place, place_cost_of(t, place) };
	int at = n;
	while (at > 0 && place_cost_less(s.cost, starts[at - 1].cost))
		at--;
	if (at == MOST_STARTS ||
	    (at > 0 && !place_cost_less(starts[at - 1].cost, s.cost)))
		return n;
	n += n < MOST_STARTS;
	for (int i = n - 1; i > at; i--)
		starts[i] = starts[i - 1];
	starts[at] = s;
	return n;
}

/* The best of the algorithms' placements, on all devices and on the first two
 * alone. */
static int list_starts(arena *a, const place_task *t, start *starts)
{
	machine two = *t->m;
	two.ndevices = 2;
	const place_task *on_two = t->m->ndevices > 2 ?
					   place_task_new(a, &two,
							  t->nunits <
								  t->m->g->nops,
							  t->deadline) :
					   NULL;
	int n = 0;
	for (const place_algorithm *p = place_algorithms; p->name; p++) {
		if (p->run == place_best)
			continue;
		int *place = p->run(a, t);
		if (place)
			n = keep_start(t, starts, n, place);
		place = on_two ? p->run(a, on_two) : NULL;
		if (place)
			n = keep_start(t, starts, n, place);
	}
	if (n == 0 || starts[0].cost.overflow > 0) {
		int *place = place_packed(a, t);
		if (place)
			n = keep_start(t, starts, n, place);
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
