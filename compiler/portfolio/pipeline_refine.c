#include "config.h"

#include "compiler/portfolio/pipeline_refine.h"

#include "compiler/portfolio/pipeline_judge.h"

/* Plans of small graphs take milliseconds, of large ones seconds: nodes that
 * are planned in all, and plans. */
enum { MOST_NODES = 40000, MOST_PLANS = 64 };

typedef struct refiner {
	const plan_request *how;
	const pipeline_layers *layers;
	pipeline_result *best;
	int left; /* plans that may be made */
	bool failed;
} refiner;

static int parts_of(const pipeline_cut *c)
{
	return c->nstages * c->chunks;
}

/* Whether the best with cut q `by' layers later is better, and is the best
 * now. */
static bool is_moved(refiner *x, int q, int by)
{
	pipeline_result moved;
	pipeline_cut cut = *x->best->cut;
	int *first = ARENA_COPY(x->how->arena, cut.first, parts_of(&cut) + 1);
	first[q] += by;
	cut.first = first;
	if (x->failed || x->left == 0 || first[q] <= first[q - 1] ||
	    first[q] >= first[q + 1])
		return false;
	x->left--;
	x->failed = !pipeline_plan(x->how, x->layers, &cut, &moved);
	if (x->failed || moved.refused ||
	    !pipeline_is_better(x->how, &moved, x->best))
		return false;
	*x->best = moved;
	return true;
}

/* Moves a cut as far as it pays, in the direction in which it does. */
static bool move_cut(refiner *x, int q)
{
	bool any = false;
	for (int by = -1; by <= 1 && !any; by += 2)
		while (is_moved(x, q, by))
			any = true;
	return any;
}

bool pipeline_refine(const plan_request *how, const pipeline_layers *l,
		     pipeline_result *best)
{
	int most = MOST_NODES / (l->g->nnodes + 1);
	refiner x = { how, l, best, most < MOST_PLANS ? most : MOST_PLANS,
		      false };
	bool any = true;
	while (any) {
		any = false;
		for (int q = 1; q < parts_of(best->cut); q++)
			any |= move_cut(&x, q);
	}
	return !x.failed;
}
