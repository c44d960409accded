#include "config.h"

#include "compiler/portfolio/frontier.h"

#include "compiler/portfolio/candidates.h"
#include "compiler/portfolio/complete_search.h"

/* Collects plans, each with a program that keeps all copies and one that keeps
 * none; of a small graph also the plans that are the fastest within less and
 * less memory. */
static bool gather(const plan_request *how, plan_candidates *all, bool *proven)
{
	plan_request free = plan_roomy(how), least = free;
	plan_candidate *best;
	plan_proof proof = { 0 };
	free.memory = 0;
	free.slow_too = least.slow_too = true;
	least.memory = 1;
	bool ok = plan_gather(&free, true, all) &&
		  plan_best(&free, all, &best) &&
		  plan_descend(&least, all, &proof) &&
		  plan_best(&least, all, &best);
	*proven = proof.proven;
	return ok;
}

/* The fastest program that holds less than `held' bytes. */
static frontier_point fastest_below(const plan_candidates *all, int64_t held)
{
	frontier_point next = { 0 };
	for (int i = 0; i < all->n; i++) {
		const plan_candidate *c = &all->at[i];
		for (int j = 0; j < c->programs.n; j++) {
			const plan_program *p = &c->programs.at[j];
			if (p->held >= 0 && p->held < held &&
			    (!next.program ||
			     program_compare(p, next.program,
					     OBJECTIVE_TIME) < 0))
				next = (frontier_point){ c->search, p };
		}
	}
	return next;
}

bool plan_frontier(const plan_request *how, frontier *f)
{
	plan_request roomy = plan_roomy(how);
	plan_candidates all = { 0 };
	plan_candidate *least;
	int64_t held = how->memory > 0 ? how->memory + 1 : INT64_MAX;
	*f = (frontier){ 0 };
	if (!gather(how, &all, &f->proven))
		return false;
	f->among = plan_proof_among(how);
	f->nplans = all.n;
	for (;;) {
		frontier_point next = fastest_below(&all, held);
		if (!next.program)
			break;
		held = next.program->held;
		vec_push(how->arena, &f->points, next);
	}
	if (f->points.n > 0)
		return true;
	if (!plan_best(&roomy, &all, &least))
		return false;
	f->least = (frontier_point){ least->search,
				     ARENA_COPY(how->arena, &least->program,
						1) };
	return true;
}
