/* The plans that none is better than in both time and memory. */
#include "config.h"

#include <stdio.h>

#include "base/units.h"
#include "compiler/portfolio/auto.h"
#include "compiler/portfolio/complete_search.h"
#include "compiler/driver/plan_memory.h"
#include "compiler/portfolio/programs.h"

typedef struct point {
	const search_result *search;
	const plan_program *program;
} point;

typedef VEC(point) points;

/* ---- what there is ----------------------------------------------------- */

/* Makes the programs of each plan that keep all copies, and none; of a small
 * graph also those that are the fastest within less and less memory.  *proven:
 * nothing else is on the frontier. */
static bool gather(driver *d, const graph *g, const plan_search *how,
		   plan_candidates *all, bool *proven)
{
	plan_search free = plan_roomy(how), least = free;
	plan_candidate *best;
	plan_proof proof = { 0 };
	free.memory = 0;
	least.memory = 1;
	bool ok = plan_gather(d, g, &free, true, all) &&
		  plan_best(d, g, &free, all, &best) &&
		  plan_descend(d, g, &least, all, &proof) &&
		  plan_best(d, g, &least, all, &best);
	*proven = proof.proven;
	return ok;
}

/* By rising time and falling memory, within a limit, 0 for none. */
static points frontier_of(arena *a, const plan_candidates *all, int64_t limit)
{
	points f = { 0 };
	int64_t held = limit > 0 ? limit + 1 : INT64_MAX;
	for (;;) {
		point next = { 0 };
		for (int i = 0; i < all->n; i++) {
			const plan_candidate *c = &all->at[i];
			for (int j = 0; j < c->programs.n; j++) {
				const plan_program *p = &c->programs.at[j];
				if (p->held < held &&
				    (!next.program ||
				     program_compare(p, next.program,
						     OBJECTIVE_TIME) < 0))
					next = (point){ c->search, p };
			}
		}
		if (!next.program)
			return f;
		held = next.program->held;
		vec_push(a, &f, next);
	}
}

/* ---- what is said of it ------------------------------------------------ */

static json_t *frontier_json(const graph *g, const points *f, int k,
			     bool proven)
{
	json_t *list = json_array();
	for (int i = 0; i < f->n; i++) {
		const plan_program *p = f->at[i].program;
		json_array_append_new(list, json_pack(
			"{s:s, s:f, s:I, s:I}", "algorithm",
			f->at[i].search->algorithm, "predicted_seconds",
			p->seconds, "peak_bytes_per_device",
			(json_int_t)p->held, "communication_bytes",
			(json_int_t)p->moved));
	}
	return json_pack("{s:s, s:i, s:b, s:o}", "model", g->name, "devices", k,
			 "proven", proven, "frontier", list);
}

static void frontier_text(arena *a, const graph *g, const plan_search *how,
			  const points *f, int nplans, bool proven)
{
	printf("%s on %d device%s, for '%s': %d of %d plans%s\n\n", g->name,
	       how->k, how->k == 1 ? "" : "s", how->topology->name, f->n,
	       nplans, proven ? ", and no others are better" : "");
	printf(" predicted      memory       moved  planner\n");
	for (int i = 0; i < f->n; i++) {
		const plan_program *p = f->at[i].program;
		printf("%s  %10s  %10s  %s\n",
		       units_right(units_seconds(p->seconds), 10).text,
		       plan_bytes_text(a, p->held),
		       plan_bytes_text(a, p->moved),
		       f->at[i].search->algorithm);
	}
}

/* Says of the plan that needs least why that is too much. */
static cli_status refuse(driver *d, const graph *g, const plan_search *how,
			 plan_candidates *all)
{
	const lower_options lower = { .algorithm = PLAN_AUTO };
	plan_search least = plan_roomy(how);
	plan_candidate *c;
	plan_report r;
	if (!plan_best(d, g, &least, all, &c) ||
	    !plan_make_of(d, g, how, c->search, &lower, &c->program, &r))
		return CLI_OK;
	plan_fits(d, r.plan, how->memory);
	plan_say_enough(d, g, how, r.plan->arena_bytes);
	return CLI_NO_PLAN;
}

cli_status plan_print_frontier(driver *d, const graph *g,
			       const plan_search *how, bool json)
{
	plan_candidates all = { 0 };
	bool proven;
	if (!gather(d, g, how, &all, &proven))
		return CLI_OK;
	points f = frontier_of(d->arena, &all, how->memory);
	if (f.n == 0)
		return refuse(d, g, how, &all);
	if (json)
		return driver_print_json(d, frontier_json(g, &f, how->k,
							  proven));
	frontier_text(d->arena, g, how, &f, all.n, proven);
	return CLI_OK;
}
