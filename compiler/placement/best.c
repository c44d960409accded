/* The placement `best': the best result of all algorithms, improved by local
 * search.  So it is never worse than any of them, nor than one device if the
 * model fits there.
 *
 * Work is counted in simulations of operators and edges, so the result is
 * always the same.  A deadline can only stop it early. */
#include "config.h"

#include "compiler/placement/figures.h"
#include "compiler/placement/improve.h"

#include <string.h>

enum {
	MOST_STARTS = 6,
	WORK = 60000000,   /* simulated operators and edges */
	LEAST_EVALUATIONS = 50,
	MOST_EVALUATIONS = 40000,
};

typedef struct start {
	int *place;
	place_cost cost;
	bool on_two; /* made for the first two devices only */
} start;

/* The starting placements, best first, and the tasks they are for. */
typedef struct starts {
	/* NULL if there are only two devices or less */
	const place_task *t, *on_two;
	start at[MOST_STARTS];
	int n;
} starts;

/* Keeps a placement if it is among the best.  They are sorted; of equal ones
 * the first is kept. */
static void keep_start(starts *s, int *place, bool on_two)
{
	if (!place)
		return;
	start new = { place, place_cost_of(s->t, place), on_two };
	int at = s->n;
	while (at > 0 && place_cost_less(new.cost, s->at[at - 1].cost))
		at--;
	if (at == MOST_STARTS ||
	    (at > 0 && !place_cost_less(s->at[at - 1].cost, new.cost)))
		return;
	s->n += s->n < MOST_STARTS;
	for (int i = s->n - 1; i > at; i--)
		s->at[i] = s->at[i - 1];
	s->at[at] = new;
}

/* Keeps the placements of all algorithms for a task; once it is late, no more
 * than the first that is found.  m-SCT is also run with
 * longest paths, because its linear program may have several solutions. */
static void keep_all(arena *a, starts *s, const place_task *t)
{
	bool on_two = t == s->on_two;
	for (const place_algorithm *p = place_algorithms; p->name; p++) {
		if (s->n > 0 && place_is_late(t))
			return;
		if (p->run != place_best && (!p->takes || p->takes(t->m)))
			keep_start(s, p->run(a, t), on_two);
	}
	keep_start(s, place_earliest(a, t, place_path_favourites(a, t->m)),
		   on_two);
}

/* Lists the best placements of the algorithms, on all devices and on the first
 * two only. */
static void list_starts(arena *a, starts *s)
{
	const machine *m = s->t->m;
	machine two = *m;
	two.ndevices = 2;
	if (m->ndevices > 2)
		s->on_two = place_task_new(a, ARENA_COPY(a, &two, 1),
					   s->t->nunits < m->g->nops,
					   s->t->deadline);
	keep_all(a, s, s->t);
	if (s->on_two)
		keep_all(a, s, s->on_two);
	if (s->n == 0 || s->at[0].cost.overflow > 0)
		keep_start(s, place_packed(a, s->t), false);
}

/* Improves start i.  One made for two devices is first improved on these, where
 * there are fewer moves to try. */
static void improve_start(starts *s, int i, int64_t bound, int64_t *evaluations)
{
	start *x = &s->at[i];
	uint64_t seed = (uint64_t)i + 1;
	int64_t half = *evaluations / 2;
	if (x->on_two) {
		*evaluations -= half;
		place_improve(s->on_two, x->place, bound, &half, seed);
		*evaluations += half;
	}
	place_improve(s->t, x->place, bound, evaluations, seed);
	x->cost = place_cost_of(s->t, x->place);
}

/* Half of the evaluations improve the best start.  The rest improve the others,
 * which may become better than it. */
int *place_best(arena *a, const place_task *t)
{
	const cost_graph *g = t->m->g;
	starts s = { .t = t };
	int best = 0;
	int64_t left = WORK / (g->nops + g->nedges);
	int64_t bound = place_bound(t->m).greatest;
	list_starts(a, &s);
	if (s.n == 0)
		return NULL;
	left = left > MOST_EVALUATIONS	? MOST_EVALUATIONS :
	       left < LEAST_EVALUATIONS ? LEAST_EVALUATIONS :
					  left;
	for (int i = 0; i < s.n && left > 1; i++) {
		int64_t share = i + 1 == s.n ? left : left / 4;
		left -= share;
		improve_start(&s, i, bound, &share);
		left += share;
		if (place_cost_less(s.at[i].cost, s.at[best].cost))
			best = i;
	}
	place_improve(t, s.at[best].place, bound, &left, 99);
	return s.at[best].place;
}
