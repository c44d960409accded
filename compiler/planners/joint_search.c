/* Search over all axes of the mesh at once.
 *
 * The search begins with the plan that the rules give step by step.  If the
 * tables for all axes are small enough, it solves the whole problem, which may
 * prove that no plan is better.  Otherwise it varies some axes at a time with
 * the others fixed, until no such window improves the plan. */
#include "config.h"

#include <string.h>

#include "compiler/planners/joint_solve.h"
#include "compiler/planners/symmetry_bound.h"

enum {
	MAX_CANDIDATES = 4096, /* candidates of one tensor or node */
	MOST_CELLS = 1 << 25, /* cells in all cost tables together */
	PART_CELLS = 1 << 24, /* the same for some of the axes */
	MOST_WORK = 1 << 28,  /* work of making the tables */
	PART_WORK = 1 << 26,  /* the same for some of the axes */
	MOST_ROUNDS = 8,      /* passes through all windows */
	PARTIAL_AXES = 2,     /* axes of a window if values may stay partial */
};

/* Rules that vary some axes and fix the others. */
typedef struct window {
	const rules *all;
	const assignment *as;
	uint32_t axes; /* axes that may change */
} window;

/* The choices of c at an axis: all of them if the axis may change, otherwise
 * only `now'. */
static choices in_window(const window *w, choices c, int axis, int now)
{
	if (w->axes >> axis & 1)
		return c;
	if (choices_have(&c, now))
		return choices_one(now);
	return (choices){ 0 };
}

static choices window_dims(const void *state, const step *s, tensor_id t)
{
	const window *w = state;
	int axis = step_axis(s);
	return in_window(w, rules_dims(w->all, s, t), axis,
			 w->as->tensor_cuts[t].dim[axis]);
}

static choices window_vars(const void *state, const step *s, node_id n)
{
	const window *w = state;
	int axis = step_axis(s);
	return in_window(w, rules_vars(w->all, s, n), axis,
			 w->as->node_cuts[n].dim[axis]);
}

typedef enum outcome {
	TOO_LARGE, /* the tables would be too large; nothing was done */
	NO_BETTER, /* no better plan was found */
	BETTER,
	BEST, /* improved, and proven best for these axes */
} outcome;

/* The current plan as an assignment of joint_problem(), in a. */
static int *value_now(arena *a, const search *s, const candidate_set *w)
{
	const graph *g = s->graph;
	const assignment *as = &s->result->assignment;
	int *value = ARENA_ARRAY(a, int, g->ntensors + g->nnodes);
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (w->tied[t] == t)
			value[t] = candidates_index(w->tensors[t],
						    &as->tensor_cuts[t],
						    as->mesh.naxes);
	for (node_id n = 0; n < g->nnodes; n++)
		value[g->ntensors + n] = candidates_index(
			w->nodes[n], &as->node_cuts[n], as->mesh.naxes);
	return value;
}

/* Whether a tensor or a node has several candidates. */
static bool is_open(const graph *g, const candidate_set *w)
{
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (w->tensors[t]->n > 1)
			return true;
	for (node_id n = 0; n < g->nnodes; n++)
		if (w->nodes[n]->n > 1)
			return true;
	return false;
}

/* Looks for a better plan that differs on the given axes, with at most `cells'
 * cells in all tables.  Sets *bound to a lower bound of such plans.  If bound
 * is NULL, the call is one of many and spends little time on a proof.  Of the
 * result's costs only the total is set. */
static outcome improve(search *s, const rules *all, uint32_t axes,
		       int64_t cells, int64_t *bound)
{
	search_result *r = s->result;
	const mesh *m = &r->assignment.mesh;
	window state = { all, &r->assignment, axes };
	const rules some = { .dims = window_dims, .vars = window_vars,
			     .state = &state, .uniform = all->uniform,
			     .now = &r->assignment,
			     .sets = all->partial };
	solve_limits limits = search_limits(s, 1);
	if (!bound) {
		limits.steps /= 64;
		limits.work /= 16;
	}
	outcome how = TOO_LARGE;
	arena *tmp = arena_new();
	candidate_set w =
		candidates_find(tmp, s->graph, m, &some, MAX_CANDIDATES);
	if (!bound && w.complete && !is_open(s->graph, &w)) {
		how = NO_BETTER;
	} else if (w.complete && joint_cells(s->graph, &w) <= cells &&
		   joint_work(s->graph, m, &w) <=
			   (bound ? MOST_WORK : PART_WORK)) {
		problem *p = joint_problem(tmp, s->graph, m, &w);
		const int *now = value_now(tmp, s, &w);
		solution found = joint_solve(tmp, s->graph, p, now, !bound,
					     &limits);
		if (bound)
			*bound = found.lower_bound;
		how = found.cost >= r->total ? NO_BETTER :
		      found.optimal	     ? BEST :
					       BETTER;
		if (how != NO_BETTER) {
			candidates_take(&w, s->graph, found.value,
					&r->assignment);
			r->total = found.cost;
		}
	}
	arena_free(tmp);
	return how;
}

/* The set of the n axes from `first' on, wrapping around. */
static uint32_t axes_from(int first, int n, int naxes)
{
	uint32_t axes = 0;
	for (int i = 0; i < n; i++)
		axes |= UINT32_C(1) << (first + i) % naxes;
	return axes;
}

/* Improves the plan by windows of n consecutive axes until no window improves
 * it.  Returns false if the tables of a window are too large. */
static bool improve_parts(search *s, const rules *all, int n)
{
	int naxes = s->result->assignment.mesh.naxes, idle = 0;
	for (int i = 0; i < MOST_ROUNDS * naxes && idle < naxes; i++) {
		if (search_is_over(s))
			break;
		outcome o = improve(s, all, axes_from(i % naxes, n, naxes),
				    PART_CELLS, NULL);
		if (o == TOO_LARGE)
			return false;
		idle = o == BETTER ? 0 : o == BEST ? 1 : idle + 1;
	}
	return true;
}

/* Improves the plan over all axes at once, or by windows of axes if the tables
 * are too large.  With rules that leave out many choices (optcnn excludes sums)
 * windows are tried first, as their plan is a better start for all axes. */
static void improve_all(search *s, const rules *all, int64_t *bound)
{
	int naxes = s->result->assignment.mesh.naxes;
	uint32_t every = axes_from(0, naxes, naxes);
	if (all->complete &&
	    improve(s, all, every, MOST_CELLS, bound) != TOO_LARGE)
		return;
	for (int n = 2; n < naxes && improve_parts(s, all, n);)
		n++;
	if (!all->complete)
		improve(s, all, every, MOST_CELLS, bound);
}

static void set_optimal(search_result *r, bool optimal)
{
	for (int a = 0; a < r->assignment.mesh.naxes; a++)
		r->optimal_by_step[a] = optimal;
}

/* Searches the plans in which no value stays partial. */
static void search_whole(search *s, const rules *all)
{
	search_result *r = s->result;
	search_by_step(s, all);
	int64_t bound = r->total > 0 ? -1 : 0, whole = -1;
	if (r->assignment.mesh.naxes < 2)
		return;
	if (all->complete && r->total > 0)
		bound = symmetry_bound(s, all, r->total);
	const int64_t stepwise = r->total;
	if (bound < r->total)
		improve_all(s, all, &whole);
	if (r->total < stepwise)
		search_cost(s);
	bound = whole > bound ? whole : bound;
	set_optimal(r, bound == r->total);
	r->lower_bound = all->complete || r->total == 0 ? bound : -1;
}

/* Looks for a better plan among those in which values may stay partial, too. */
static void leave_partial(search *s, const rules *all)
{
	search_result *r = s->result;
	search_result *whole = search_result_copy(s->arena, s->graph, r);
	int naxes = r->assignment.mesh.naxes;
	int64_t bound = -1;
	if (improve(s, all, axes_from(0, naxes, naxes), MOST_CELLS, &bound) ==
	    TOO_LARGE)
		for (int n = 1; n <= PARTIAL_AXES && n < naxes &&
				improve_parts(s, all, n);)
			n++;
	if (r->total == whole->total)
		return;
	search_cost(s);
	r->whole = whole;
	r->among = "that cut every tensor or leave it partial";
	bound = r->total == 0 ? 0 : bound;
	r->lower_bound = s->pins && r->total > 0 ? -1 : bound;
	set_optimal(r, bound == r->total);
}

void search_jointly(search *s, const rules *wanted)
{
	rules whole = *wanted;
	whole.partial = NULL;
	whole = search_pinned(s, &whole);
	search_whole(s, &whole);
	if (wanted->partial && wanted->partial->any && s->result->total > 0) {
		const rules all = search_pinned(s, wanted);
		leave_partial(s, &all);
	}
}
