/* The extended search.  It decides axis by axis like the recursive search.  In
 * addition a tensor may be replicated, and an operator computed by every
 * device.  It minimises the predicted time plus a price for memory. */
#include "config.h"

#include "compiler/cost/step_time.h"
#include "compiler/cost/time_model.h"
#include "compiler/planners/planner.h"

static choices dims(const void *state, const step *s, tensor_id t)
{
	(void)state;
	return choices_or_whole(step_dims(s, t));
}

static choices vars(const void *state, const step *s, node_id n)
{
	(void)state;
	return choices_or_whole(step_vars(s, n));
}

/* Solves for the least price, and reports the solution's cost in bytes, as for
 * all search results. */
static solution solve_priced(const void *o, arena *a, const formulation *f,
			     const solve_limits *limits)
{
	solution best = solve(a, step_time_problem(a, o, f), limits);
	best.cost = problem_cost(f->problem, best.value);
	best.lower_bound = 0;
	return best;
}

static void plan(search *s)
{
	arena *tmp = arena_new();
	search_result *r = s->result;
	const topology *t = s->topology ? s->topology : topology_preset(0);
	step_time *o = step_time_new(tmp, s->graph, &s->mesh, t);
	rules any = {
		.dims = dims,
		.vars = vars,
		.solve = solve_priced,
		.solver = o,
	};
	if (!s->variant.at_once)
		any.partial = partial_values_of(tmp, s->graph, PARTIAL_USEFUL);
	o->price = s->prices ? s->prices->tensors : NULL;
	search_by_step(s, &any);
	for (int i = 0; i < s->mesh.naxes; i++)
		r->least_by_step[i] = -1;
	arena_free(tmp);
}

static const search_variant at_once = { .at_once = true };

const planner planner_extended = {
	.name = "extended",
	.about = "tensors may be replicated; least time, by steps",
	.plan = plan,
	.effort = 10,
	.priced = true,
	.variants = &at_once,
	.nvariants = 1,
};
