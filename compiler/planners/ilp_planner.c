/* The planner that solves the problem of `joint' as a 0-1 program with an
 * external solver. */
#include "config.h"

#include "compiler/cost/joint_problem.h"
#include "compiler/planners/planner.h"
#include "compiler/solver/ilp.h"

enum {
	MOST_CANDIDATES = 4096,	/* candidates of one tensor or node */
	MOST_COLUMNS = 1 << 21, /* columns of the program */
	SECONDS = 600,
};

/* The time limit passed to the external solver, in whole seconds. */
static int seconds_for(const search *s)
{
	double left = search_limits(s, 1).seconds;
	if (s->deadline.at == 0 || left >= SECONDS)
		return SECONDS;
	return left > 1 ? (int)left : 1;
}

static void take(search *s, const candidate_set *w, const ilp_result *found)
{
	search_result *r = s->result;
	candidates_take(w, s->graph, found->solution.value, &r->assignment);
	search_cost(s);
	for (int i = 0; i < r->assignment.mesh.naxes; i++)
		r->optimal_by_step[i] = found->solution.optimal;
	if (r->total == 0 || (found->solution.optimal && !s->pins))
		r->lower_bound = r->total;
	r->note = arena_printf(s->arena, "solved by %s%s", found->solver,
			       found->solution.optimal
				       ? ""
				       : ", which did not prove it");
}

static void plan(search *s)
{
	search_result *r = s->result;
	arena *tmp = arena_new();
	r->assignment.mesh = s->mesh;
	r->lower_bound = -1;
	const rules all = {
		.dims = rules_all_dims, .vars = rules_all_vars,
		.partial = partial_values_of(tmp, s->graph, PARTIAL_CHEAP),
	};
	const rules with = search_pinned(s, &all);
	candidate_set w = candidates_find(tmp, s->graph, &r->assignment.mesh,
					  &with, MOST_CANDIDATES);
	if (!w.complete || joint_cells(s->graph, &w) > MOST_COLUMNS) {
		r->error = "the model is too large for a 0-1 program";
	} else if (s->k == 1) {
		r->lower_bound = 0;
	} else {
		problem *p = joint_problem(tmp, s->graph, &r->assignment.mesh,
					   &w);
		ilp_result found = ilp_solve(s->arena, p, seconds_for(s));
		r->error = found.error;
		r->absent = found.absent;
		if (!r->error)
			take(s, &w, &found);
	}
	arena_free(tmp);
}

const planner planner_ilp = {
	.name = "ilp",
	.about = "joint's problem as a 0-1 program, by highs or glpsol",
	.plan = plan,
	.proves = SEARCH_PROVES_PLANS,
	.on_request = true,
};
