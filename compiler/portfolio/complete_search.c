#include "config.h"

#include "compiler/portfolio/complete_search.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "compiler/cost/partial_values.h"
#include "compiler/lower/fuse.h"
#include "compiler/planners/best_first.h"
#include "compiler/portfolio/one_planner.h"

enum { MOST_PLANS = 2048 }; /* plans that are lowered */

const char *plan_proof_among(const plan_request *how)
{
	bool partial = partial_values_of(how->arena, how->graph,
					 PARTIAL_ALL)->any;
	const char *once =
		partial ? " and combine partial results at once" : "";
	const char *pins = pins_are_given(&how->pins) ? " with these pins" : "";
	bool timed = how->objective == OBJECTIVE_TIME;
	return arena_printf(how->arena, "that run the operators in this order"
			    "%s%s%s", once,
			    timed && how->bucket != 0 ? " without buckets" : "",
			    pins);
}

/* ---- one search -------------------------------------------------------- */

/* The best program so far. */
typedef struct keeper {
	const plan_request *how;
	bool found;
	plan_program program;
	assignment best;
} keeper;

static assignment copy_of(arena *a, const graph *g, const assignment *as)
{
	return (assignment){ as->mesh,
			     ARENA_COPY(a, as->tensor_cuts, g->ntensors),
			     ARENA_COPY(a, as->node_cuts, g->nnodes) };
}

static bool is_better(const keeper *k, const plan_program *p)
{
	int64_t limit = k->how->memory;
	if (k->how->objective == OBJECTIVE_MEMORY)
		return p->held < k->program.held;
	return program_fits(p, limit) &&
	       (!program_fits(&k->program, limit) ||
		p->seconds < k->program.seconds);
}

static bool lower(void *to, const assignment *as, best_first_value *v)
{
	keeper *k = to;
	bool known = program_fits(&k->program, k->how->memory);
	plan_program p;
	if (!program_best(k->how, as, NULL, known ? &k->program : NULL, &p))
		return false;
	*v = (best_first_value){ p.seconds, p.held };
	if (is_better(k, &p)) {
		k->found = true;
		k->program = p;
		k->best = copy_of(k->how->arena, k->how->graph, as);
	}
	return true;
}

static bool has_merges(const graph *g, const merge *merges)
{
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (merges[t].may)
			return true;
	return false;
}

/* Searches first as if no operator were fused with another.  Those bounds are
 * valid only for other programs, but are close to what plans achieve.  Then
 * searches with valid bounds. */
static bool search_both(best_first_request *q, bool prove, plan_proof *proof)
{
	const merge *merges = q->merges;
	best_first_result r = { 0 };
	int first = 0;
	if (merges && has_merges(q->graph, merges)) {
		q->merges = NULL;
		q->most_plans /= 2;
		if (!best_first_search(q, &r))
			return false;
		first = r.nplans;
		q->merges = merges;
		keeper *k = q->to;
		q->known = (best_first_value){ k->program.seconds,
					       k->program.held };
	}
	if (first > 0 && !prove) {
		proof->tried = true;
		proof->nplans += first;
		return true;
	}
	if (!best_first_search(q, &r))
		return false;
	proof->tried = r.tried;
	proof->proven = r.proven;
	proof->nplans += first + r.nplans;
	return true;
}

bool plan_bounded(const plan_request *how, bool prove, plan_candidate *best,
		  plan_proof *proof)
{
	double begin = clock_seconds();
	arena *a = how->arena;
	const graph *g = how->graph;
	plan_request each = *how;
	keeper k = { .how = &each, .program = best->program };
	search_request wanted;
	each.one_order = true;
	if (!bounded_may_try(g))
		return true;
	if (!plan_search_request(how, &wanted))
		return false;
	plan_observe(how, PHASE_PROVE, PLAN_BOUNDED, 0, 0);
	best_first_request q = {
		.graph = g,
		.mesh = wanted.mesh,
		.pins = wanted.pins,
		.merges = how->separate ? NULL : fuse_outlook(a, g),
		.topology = how->topology,
		.limit = how->memory,
		.memory = how->objective == OBJECTIVE_MEMORY,
		.start = &best->search->assignment,
		.known = { best->program.seconds, best->program.held },
		.most_plans = how->most_plans > 0 ? how->most_plans
						  : MOST_PLANS,
		.seconds = how->seconds,
		.lower = lower,
		.to = &k,
	};
	if (!search_both(&q, prove, proof))
		return false;
	proof->seconds += clock_seconds() - begin;
	if (k.found)
		*best = (plan_candidate){
			.search = search_evaluate(a, g, &k.best, PLAN_BOUNDED),
			.program = k.program,
		};
	return true;
}

/* ---- with less and less memory ----------------------------------------- */

enum {
	MOST_POINTS = 64,  /* points of the frontier */
	MEMORY_STEPS = 4,  /* limits between the least memory and the most */
	STEP_PLANS = MOST_PLANS / 8, /* at each of these */
};

typedef struct descent {
	const plan_request *how;
	plan_candidates *all;
	plan_proof *proof;
} descent;

/* Searches with a limit, starting from the best known plan.  *found is set to
 * the best one after that. */
static bool search_within(descent *x, int64_t limit, int most_plans,
			  plan_objective by, bool prove, plan_candidate *found)
{
	plan_request how = *x->how;
	plan_candidate *best;
	how.memory = limit;
	how.most_plans = most_plans;
	how.objective = by;
	if (!plan_best(&how, x->all, &best))
		return false;
	*found = *best;
	if (!plan_bounded(&how, prove, found, x->proof))
		return false;
	if (found->search != best->search)
		vec_push(x->how->arena, x->all, *found);
	return true;
}

/* Goes down to the requested limit.  *limit is set to the first limit without a
 * proof, or the last one. */
static bool go_down(descent *x, int64_t *limit)
{
	plan_candidate found;
	*limit = 0;
	for (int i = 0; i < MOST_POINTS; i++) {
		int left = MOST_PLANS - x->proof->nplans;
		x->proof->proven = false;
		if (left <= 0)
			return true;
		if (!search_within(x, *limit, left, OBJECTIVE_TIME, true,
				   &found))
			return false;
		if (!x->proof->proven ||
		    program_fits(&found.program, x->how->memory) ||
		    !program_fits(&found.program, *limit))
			return true;
		*limit = found.program.held - 1;
	}
	x->proof->proven = false;
	return true;
}

/* Searches with limits that rise by a constant factor from the least memory
 * towards `most', but not above the requested limit. */
static bool go_up(descent *x, int64_t most)
{
	plan_candidate least, found;
	if (!search_within(x, 0, STEP_PLANS, OBJECTIVE_MEMORY, false,
			   &least))
		return false;
	double from = (double)least.program.held, to = (double)most;
	for (int i = 0; i < MEMORY_STEPS && from > 0; i++) {
		int64_t limit = (int64_t)(from * pow(to / from,
						     i / (double)MEMORY_STEPS));
		if (x->how->memory > 0 && limit > x->how->memory)
			break;
		if (!search_within(x, limit, STEP_PLANS, OBJECTIVE_TIME, false,
				   &found))
			return false;
	}
	x->proof->proven = false;
	return true;
}

bool plan_descend(const plan_request *how, plan_candidates *all,
		  plan_proof *proof)
{
	descent x = { .how = how, .all = all, .proof = proof };
	plan_candidate found;
	int64_t most;
	if (how->graph->turns || !bounded_may_try(how->graph))
		return true;
	if (how->seconds > 0)
		return search_within(&x, how->memory, 0, OBJECTIVE_TIME, true,
				     &found);
	if (!go_down(&x, &most))
		return false;
	if (proof->proven || !proof->tried || how->memory == 0)
		return true;
	if (most == 0) {
		plan_request free = *how;
		plan_candidate *best;
		free.memory = 0;
		if (!plan_best(&free, all, &best))
			return false;
		most = best->program.held;
	}
	return go_up(&x, most);
}
