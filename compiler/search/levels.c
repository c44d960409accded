/* All axes of a level of links as one: along each level a tensor is cut along
 * one dimension or replicated, an operator divided along one variable or
 * computed by all, and all levels are decided together for the least predicted
 * time, with a price for memory.  Data parallelism, ZeRO, tensor and sequence
 * parallelism are plans of this kind. */
#include "config.h"

#include "compiler/search/levels.h"

enum {
	MOST_WAYS = 1024,	/* of one tensor or node */
	MOST_CELLS = 1 << 22, /* of all tables */
};

typedef struct level_rules {
	int levels[MAX_AXES]; /* of the axes */
} level_rules;

/* The choices and none, where a level begins; else what the axis before has, if
 * that is among them. */
static choices alike(const level_rules *r, choices c, const cuts *before,
		     int axis)
{
	int same = axis > 0 ? before->dim[axis - 1] : CUT_NONE;
	if (axis > 0 && r->levels[axis] == r->levels[axis - 1])
		return same == CUT_NONE || choices_have(&c, same)
			       ? choices_one(same)
			       : (choices){ 0 };
	return choices_or_whole(c);
}

static choices dims(const void *state, const step *s, tensor_id t)
{
	return alike(state, step_dims(s, t), &s->as->tensor_cuts[t],
		     step_axis(s));
}

static choices vars(const void *state, const step *s, node_id n)
{
	return alike(state, step_vars(s, n), &s->as->node_cuts[n],
		     step_axis(s));
}

struct level_tables {
	ways_set ways;
	timed *timed;
};

static level_tables *make_tables(arena *a, const search *s)
{
	const topology *t = s->topology ? s->topology : topology_preset(0);
	level_rules state;
	topology_levels(t, &s->mesh, state.levels);
	const rules some = { .dims = dims, .vars = vars, .state = &state };
	const rules all = search_pinned(s, &some);
	level_tables *x = ARENA_NEW(a, level_tables);
	x->ways = ways_find(a, s->graph, &s->mesh, &all, MOST_WAYS);
	if (!x->ways.complete || timed_cells(s->graph, &x->ways) > MOST_CELLS)
		return NULL;
	x->timed = timed_new(a, s->graph, &s->mesh, t, &x->ways);
	return x;
}

level_tables *level_tables_new(arena *a, const graph *g,
			       const search_request *q)
{
	const search s = { .arena = a, .graph = g, .mesh = q->mesh,
			   .pins = q->pins, .topology = q->topology };
	return make_tables(a, &s);
}

static void plan(search *s)
{
	static const timed_prices none = { 0 };
	arena *tmp = arena_new();
	search_result *r = s->result;
	const level_tables *x = s->tables ? s->tables : make_tables(tmp, s);
	if (x) {
		solve_limits limits = search_limits(s, 1);
		problem *p = timed_problem(tmp, x->timed,
					   s->prices ? s->prices : &none);
		r->assignment.mesh = s->mesh;
		ways_take(&x->ways, s->graph, solve(tmp, p, &limits).value,
			  &r->assignment);
		r->lower_bound = -1;
		search_price(s);
	} else {
		r->error = "there are too many ways for this machine's levels";
	}
	arena_free(tmp);
}

const planner planner_levels = {
	.name = "levels",
	.about = "one dimension per level, or replicated; least time",
	.plan = plan,
	.priced = true,
};
