#include "config.h"

#include "compiler/portfolio/pipeline_refine.h"

#include "compiler/portfolio/pipeline_judge.h"

/* Limits: nodes planned in all, and plans.  A plan of a small graph takes
 * milliseconds, of a large one seconds. */
enum { MOST_NODES = 40000, MOST_PLANS = 64 };

typedef struct refiner {
	const plan_request *how;
	const pipeline_layers *layers;
	const pipeline_sums *sums;
	known_stages *known;
	pipeline_result *best;
	int left; /* plans that may still be made */
	bool failed;
} refiner;

static int parts_of(const pipeline_cut *c)
{
	return c->nstages * c->chunks;
}

/* Whether a cut is better than the best one.  If so, it replaces that. */
static bool is_better(refiner *x, const pipeline_cut *cut)
{
	pipeline_result r;
	if (x->failed || x->left == 0)
		return false;
	x->left--;
	x->failed = !pipeline_plan(x->how, x->layers, cut, x->known, &r);
	if (x->failed || r.refused || !pipeline_is_better(x->how, &r, x->best))
		return false;
	*x->best = r;
	return true;
}

/* Gives the stages around cut q the ways that are expected to be the fastest.
 * Returns whether these differ from the present ones. */
static bool set_ways(const refiner *x, int q, pipeline_cut *cut)
{
	int turns = x->layers->g->turns->turns;
	bool any = false;
	pipeline_way *ways = ARENA_COPY(x->how->arena, cut->ways,
					cut->nstages);
	for (int s = q - 1; s <= q && cut->chunks == 1; s++) {
		stage_place at = pipeline_sums_place(cut, s, turns);
		double seconds;
		const way_sums *w = pipeline_sums_best(x->sums, &at, 1,
						       &seconds);
		if (!w || pipeline_way_equal(&w->way, &ways[s]))
			continue;
		ways[s] = w->way;
		any = true;
	}
	cut->ways = ways;
	return any;
}

/* Tries the best plan with cut q `by' layers later, with its ways or with those
 * expected to be fastest for the new layers.  Returns whether it was better; it
 * is the best then. */
static bool is_moved(refiner *x, int q, int by)
{
	pipeline_cut cut = *x->best->cut;
	int *first = ARENA_COPY(x->how->arena, cut.first, parts_of(&cut) + 1);
	first[q] += by;
	cut.first = first;
	return first[q] > first[q - 1] && first[q] < first[q + 1] &&
	       (is_better(x, &cut) ||
		(set_ways(x, q, &cut) && is_better(x, &cut)));
}

/* Moves a cut in the direction that helps, as far as it does. */
static bool move_cut(refiner *x, int q)
{
	bool any = false;
	for (int by = -1; by <= 1 && !any; by += 2)
		while (is_moved(x, q, by))
			any = true;
	return any;
}

bool pipeline_refine(const plan_request *how, const pipeline_layers *l,
		     const pipeline_sums *sums, known_stages *known,
		     pipeline_result *best)
{
	int most = MOST_NODES / (l->g->nnodes + 1);
	refiner x = { how, l, sums, known, best,
		      most < MOST_PLANS ? most : MOST_PLANS, false };
	const bool sampled = best->sampled;
	bool any = true;
	while (any) {
		any = false;
		for (int q = 1; q < parts_of(best->cut); q++)
			any |= move_cut(&x, q);
	}
	best->sampled = sampled;
	return !x.failed;
}
