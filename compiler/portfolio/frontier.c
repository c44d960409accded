#include "config.h"

#include "compiler/portfolio/frontier.h"

#include <stdlib.h>

#include "compiler/portfolio/bucketed.h"
#include "compiler/portfolio/candidates.h"
#include "compiler/portfolio/complete_search.h"
#include "compiler/portfolio/one_planner.h"

/* Collects plans, each with a program that keeps all copies and one that keeps
 * none.  For a small graph also collects the fastest plans within less and less
 * memory. */
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

typedef VEC(frontier_point) points;

/* All programs that have places. */
static points all_points(arena *a, const plan_candidates *all)
{
	points x = { 0 };
	for (int i = 0; i < all->n; i++) {
		const plan_candidate *c = &all->at[i];
		for (int j = 0; j < c->programs.n; j++) {
			const plan_program *p = &c->programs.at[j];
			if (p->held >= 0)
				vec_push(a, &x, ((frontier_point){ c->search,
								   p }));
		}
	}
	return x;
}

/* The fastest program that holds less than `held' bytes. */
static frontier_point fastest_below(const points *all, int64_t held)
{
	frontier_point next = { 0 };
	for (int i = 0; i < all->n; i++) {
		const plan_program *p = all->at[i].program;
		if (p->held < held &&
		    (!next.program ||
		     program_compare(p, next.program, OBJECTIVE_TIME) < 0))
			next = all->at[i];
	}
	return next;
}

/* ---- with buckets ------------------------------------------------------ */

/* The estimated time of a program with buckets. */
static double hope_of(const frontier_point *x)
{
	return x->program->seconds - x->program->saved;
}

/* Orders by estimated time, then by memory. */
static int by_hope(const void *p, const void *q)
{
	const frontier_point *x = p, *y = q;
	double a = hope_of(x), b = hope_of(y);
	int64_t m = x->program->held, n = y->program->held;
	if (a != b)
		return a < b ? -1 : 1;
	return (m > n) - (m < n);
}

/* Whether another program without buckets is as fast as x may be with them, and
 * needs no more memory. */
static bool is_hopeless(const points *all, const frontier_point *x)
{
	for (int i = 0; i < all->n; i++) {
		const plan_program *p = all->at[i].program;
		if (p->held <= x->program->held && p->seconds <= hope_of(x))
			return true;
	}
	return false;
}

/* Adds programs with buckets where they may be on the frontier: the usual
 * program of each plan, as its planner alone gives it, and those for which no
 * other one has a better estimate and needs less memory. */
static bool add_in_buckets(const plan_request *how, points *all)
{
	points bare = { 0 };
	int64_t least = INT64_MAX;
	for (int i = 0; i < all->n; i++)
		if (program_is_usual(all->at[i].program) ||
		    !is_hopeless(all, &all->at[i]))
			vec_push(how->arena, &bare, all->at[i]);
	if (bare.n > 0)
		qsort(bare.at, (size_t)bare.n, sizeof(*bare.at), by_hope);
	for (int i = 0; i < bare.n; i++) {
		frontier_point x = bare.at[i];
		bool first = x.program->held < least;
		if (!first && !program_is_usual(x.program))
			continue;
		least = first ? x.program->held : least;
		plan_program *p = ARENA_COPY(how->arena, x.program, 1);
		if (!program_in_buckets(how, &x.search->assignment, p,
					&x.in_buckets))
			return false;
		x.program = p;
		if (x.in_buckets)
			vec_push(how->arena, all, x);
	}
	return true;
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
	points every = all_points(how->arena, &all);
	if (how->bucket != 0 && !add_in_buckets(how, &every))
		return false;
	for (;;) {
		frontier_point next = fastest_below(&every, held);
		if (!next.program)
			break;
		held = next.program->held;
		vec_push(how->arena, &f->points, next);
	}
	if (f->points.n > 0)
		return true;
	if (!plan_best(&roomy, &all, &least))
		return false;
	f->least = (frontier_point){
		.search = least->search,
		.program = ARENA_COPY(how->arena, &least->program, 1),
	};
	return true;
}

/* ---- one of them ------------------------------------------------------- */

bool plan_frontier_plan(const plan_request *how, const frontier *f, int i,
			plan_result *r)
{
	const frontier_point *x = &f->points.at[i];
	const lower_options lower = { .algorithm = PLAN_AUTO };
	plan_request own = *how;
	const char *note = arena_printf(how->arena, "plan %d of the %d of the "
					"frontier, of %d plans, found by '%s'",
					i + 1, f->points.n, f->nplans,
					x->search->algorithm);
	if (!x->in_buckets)
		own.bucket = 0;
	if (!plan_lowered(&own, search_credited(how->arena, x->search, note),
			  &lower, x->program, r))
		return false;
	r->objective = "time";
	r->proven = f->proven;
	r->proof = f->proven ? f->among : NULL;
	return true;
}
