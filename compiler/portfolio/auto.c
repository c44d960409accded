#include "config.h"

#include "compiler/portfolio/auto.h"

#include "base/clock.h"
#include "compiler/portfolio/bucketed.h"
#include "compiler/portfolio/complete_search.h"
#include "compiler/portfolio/one_planner.h"

/* Nodes of a graph that is planned with memory prices even without a memory
 * limit. */
enum { SMALL_GRAPH = 512 };

/* The search of the best plan as it is reported: under this planner's name,
 * with the seconds of all searches. */
static search_result *credited(const plan_request *how,
			       const plan_candidates *all,
			       const plan_candidate *best,
			       const plan_proof *proof, double seconds)
{
	arena *a = how->arena;
	const char *note = best->search->note;
	const char *proven = "";
	if (proof->proven)
		proven = arena_printf(a, "; of all plans %s none is better",
				      plan_proof_among(how));
	search_result *s = search_credited(
		a, best->search,
		arena_printf(a, "the best of %d plans, found by '%s'%s%s%s",
			     all->n + proof->nplans, best->search->algorithm,
			     proven, note ? "; " : "", note ? note : ""));
	s->seconds = seconds + proof->seconds;
	return s;
}

/* Finds the plan with the least memory, among some plans or among all if there
 * are few. */
static bool find_least(const plan_request *how, plan_candidates *all,
		       plan_candidate *best, plan_proof *proof)
{
	plan_candidate *found;
	plan_request least = *how;
	least.objective = OBJECTIVE_MEMORY;
	least.memory = 0;
	if (!plan_best(&least, all, &found))
		return false;
	*best = *found;
	return plan_bounded(&least, true, best, proof);
}

/* Finds the best plan, among some plans or among all if there are few. */
static bool find_best(const plan_request *how, plan_candidates *all,
		      plan_candidate *best, plan_proof *proof)
{
	plan_candidate *found;
	if (how->objective == OBJECTIVE_MEMORY)
		return find_least(how, all, best, proof);
	if ((how->objective == OBJECTIVE_TIME &&
	     !plan_descend(how, all, proof)) ||
	    !plan_best(how, all, &found))
		return false;
	*best = *found;
	if (program_fits(&best->program, how->memory))
		return how->objective != OBJECTIVE_TIME ||
		       plan_best_in_buckets(how, all, best);
	return find_least(how, all, best, proof);
}

bool plan_auto(const plan_request *how, const lower_options *lower,
	       const search_result *const *made, int nmade, plan_result *r)
{
	static const char *const objectives[] = { "time", "bytes", "memory" };
	const plan_request roomy = plan_roomy(how);
	plan_candidates all = { 0 };
	plan_candidate best;
	plan_proof proof = { 0 };
	bool sweep = how->memory > 0 || how->objective == OBJECTIVE_MEMORY ||
		     how->graph->nnodes <= SMALL_GRAPH;
	double seconds = 0;
	for (int i = 0; i < nmade; i++)
		if (!made[i]->error) {
			plan_add_found(how->arena, made[i], &all);
			seconds += made[i]->seconds;
		}
	seconds -= clock_seconds();
	bool ok = plan_gather(&roomy, sweep, &all);
	seconds += clock_seconds();
	if (!ok || !find_best(&roomy, &all, &best, &proof) ||
	    !plan_lowered(how, credited(how, &all, &best, &proof, seconds),
			  lower, &best.program, r))
		return false;
	r->objective = objectives[how->objective];
	r->proven = proof.proven;
	r->proof = proof.proven ? plan_proof_among(how) : NULL;
	return true;
}
