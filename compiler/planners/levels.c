/* The levels planner: all axes on one level of links are treated as one.  On
 * each level a tensor is cut along one dimension or replicated, and an operator
 * is divided along one variable or computed by all devices.  The planner
 * minimises the predicted time plus a price for memory.
 *
 * First all levels are decided alike.  Then each level is decided anew while
 * the others stay fixed.  Data parallelism, ZeRO, tensor parallelism and
 * sequence parallelism are such plans. */
#include "config.h"

#include "compiler/planners/levels.h"

enum {
	MAX_CANDIDATES = 1024, /* candidates of one tensor or node */
	MOST_CELLS = 1 << 24, /* cells in all cost tables together */
	ROUNDS = 2,	      /* passes through the levels */
};

/* Rules for axes grouped by level.  The search decides one level, or all levels
 * as one, and keeps the others. */
typedef struct level_rules {
	int levels[MAX_AXES]; /* the level of each axis */
	int free;	      /* the level to decide; ALL: all levels as one */
	const assignment *now;
	/* values that may stay partial; NULL: none */
	const partial_values *partial;
} level_rules;

enum { ALL = -1 };

/* The choices at an axis.  The first axis to decide has all of c and `none'.
 * Each later one must repeat the choice of the axis before, and a fixed axis
 * keeps its current one, if it is in c. */
static choices alike(const level_rules *r, choices c, const cuts *before,
		     const cuts *now, int axis)
{
	int same, level = r->levels[axis];
	if (r->free != ALL && level != r->free)
		same = now->dim[axis];
	else if (axis == 0 || (r->free != ALL && r->levels[axis - 1] != level))
		return choices_or_whole(c);
	else
		same = before->dim[axis - 1];
	return same == CUT_NONE || choices_have(&c, same) ? choices_one(same)
							  : (choices){ 0 };
}

static choices dims(const void *state, const step *s, tensor_id t)
{
	const level_rules *r = state;
	choices all = partial_or_dims(r->partial, step_dims(s, t), s, t);
	return alike(r, all, &s->as->tensor_cuts[t],
		     r->now ? &r->now->tensor_cuts[t] : NULL, step_axis(s));
}

static choices vars(const void *state, const step *s, node_id n)
{
	const level_rules *r = state;
	choices all = partial_or_vars(r->partial, step_vars(s, n), s, n);
	return alike(r, all, &s->as->node_cuts[n],
		     r->now ? &r->now->node_cuts[n] : NULL, step_axis(s));
}

struct level_tables {
	candidate_pool *pool;
	time_model_cache *cache;
};

level_tables *level_tables_new(arena *a, const search_request *q)
{
	const topology *t = q->topology ? q->topology : topology_preset(0);
	level_tables *x = ARENA_NEW(a, level_tables);
	x->pool = candidate_pool_new(a);
	x->cache = time_model_cache_new(a, &q->mesh, t, false);
	return x;
}

/* Decides the free axes.  If the solver runs out of time before it finds a plan
 * in which all partial values fit, the current plan stays.  Returns false if
 * there are too many candidates or no plan. */
static bool decide(search *s, level_tables *x, const level_rules *state,
		   int nleft)
{
	static const memory_prices none = { 0 };
	arena *tmp = arena_new();
	const rules some = { .dims = dims, .vars = vars, .state = state,
			     .uniform = true, .now = state->now,
			     .sets = state->partial };
	const rules all = search_pinned(s, &some);
	candidate_set w = candidates_find_in(x->pool, tmp, s->graph, &s->mesh,
					     &all, MAX_CANDIDATES);
	bool ok = w.complete && time_model_cells(s->graph, &w) <= MOST_CELLS;
	if (ok) {
		solve_limits limits = search_limits(s, nleft);
		time_model *t = time_model_new(tmp, x->cache, s->graph, &w);
		problem *p = time_model_problem(tmp, t,
						s->prices ? s->prices : &none);
		solution best = solve(tmp, p, &limits);
		ok = best.cost < COST_MAX || !state->partial;
		if (ok)
			candidates_take(&w, s->graph, best.value,
					&s->result->assignment);
		ok |= state->now != NULL;
	}
	arena_free(tmp);
	return ok;
}

/* Decides all levels alike, with partial values if that succeeds, otherwise
 * without. */
static bool decide_all(search *s, level_tables *x, level_rules *state,
		       int nleft)
{
	bool ok = decide(s, x, state, nleft);
	if (ok || !state->partial)
		return ok;
	state->partial = NULL;
	return decide(s, x, state, nleft);
}

static void plan(search *s)
{
	arena *tmp = arena_new();
	search_result *r = s->result;
	const topology *t = s->topology ? s->topology : topology_preset(0);
	const search_request q = { .mesh = s->mesh, .topology = t };
	level_tables *x = s->tables ? s->tables : level_tables_new(tmp, &q);
	level_rules state = {
		.free = ALL,
	};
	if (!s->variant.at_once)
		state.partial = partial_values_of(tmp, s->graph,
						  PARTIAL_USEFUL);
	topology_levels(t, &s->mesh, state.levels);
	r->assignment.mesh = s->mesh;
	int last = s->mesh.naxes - 1, nlevels = 0, nleft;
	for (int a = 0; a <= last; a++)
		nlevels += a == 0 || state.levels[a] != state.levels[a - 1];
	nleft = nlevels > 1 ? 1 + ROUNDS * nlevels : 1;
	bool ok = decide_all(s, x, &state, nleft--);
	state.now = &r->assignment;
	for (int i = 0; ok && i < ROUNDS && nlevels > 1; i++)
		for (int a = 0; ok && a <= last; a++) {
			state.free = state.levels[a];
			if (a == last || state.levels[a + 1] != state.free)
				ok = decide(s, x, &state, nleft--);
		}
	if (ok)
		search_cost(s);
	else
		r->error = "there are too many candidates";
	r->lower_bound = ok && r->total == 0 ? 0 : -1;
	arena_free(tmp);
}

static const search_variant at_once = { .at_once = true };

const planner planner_levels = {
	.name = "levels",
	.about = "one dimension per level, or replicated; least time",
	.plan = plan,
	.effort = 20,
	.priced = true,
	.tabled = true,
	.variants = &at_once,
	.nvariants = 1,
};
