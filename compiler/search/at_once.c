/* All axes of the mesh at once.
 *
 * It begins with what the steps of the rules come to one after another, and
 * looks for something better: over all axes where the tables of that problem
 * are small enough, which is exact; else over as many axes at a time as fit,
 * the others staying as they are, until nothing gets better. */
#include "config.h"

#include <string.h>

#include "compiler/search/planner.h"
#include "compiler/search/whole.h"

enum {
	MOST_WAYS = 4096,     /* of one tensor or node */
	MOST_CELLS = 1 << 25, /* of all tables */
	MOST_ROUNDS = 8,      /* through the windows */
};

/* Rules for some axes, while the others stay. */
typedef struct window {
	const rules *all;
	const assignment *as;
	uint32_t axes; /* that may change */
} window;

/* What is left of the choices c at an axis, where it is `now`. */
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
	return in_window(w, w->all->dims(w->all->state, s, t), axis,
			 w->as->tensor_cuts[t].dim[axis]);
}

static choices window_vars(const void *state, const step *s, node_id n)
{
	const window *w = state;
	int axis = step_axis(s);
	return in_window(w, w->all->vars(w->all->state, s, n), axis,
			 w->as->node_cuts[n].dim[axis]);
}

typedef enum outcome {
	TOO_LARGE, /* nothing was done */
	NO_BETTER, /* than what there is was found */
	BETTER,
} outcome;

/* Looks for something better; *bound is what nothing in the window is less
 * than. */
static outcome improve(search *s, const rules *all, uint32_t axes,
		       int64_t *bound)
{
	search_result *r = s->result;
	const mesh *m = &r->assignment.mesh;
	window state = { all, &r->assignment, axes };
	const rules some = { .dims = window_dims, .vars = window_vars,
			     .state = &state };
	solve_limits limits = search_limits(s, 1);
	outcome how = TOO_LARGE;
	arena *tmp = arena_new();
	ways_set w = ways_find(tmp, s->graph, m, &some, MOST_WAYS);
	if (w.complete && whole_cells(s->graph, &w) <= MOST_CELLS) {
		problem *p = whole_problem(tmp, s->graph, m, &w);
		p->top = r->total;
		solution found = solve(tmp, p, &limits);
		*bound = found.lower_bound;
		how = found.cost < p->top ? BETTER : NO_BETTER;
		if (how == BETTER) {
			ways_take(&w, s->graph, found.value, &r->assignment);
			search_price(s);
		}
	}
	arena_free(tmp);
	return how;
}

/* The axes first .. first + n - 1, around the end. */
static uint32_t axes_from(int first, int n, int naxes)
{
	uint32_t axes = 0;
	for (int i = 0; i < n; i++)
		axes |= UINT32_C(1) << (first + i) % naxes;
	return axes;
}

/* Goes through the windows of n axes until none gets better.  False if their
 * tables are too large. */
static bool improve_windows(search *s, const rules *all, int n)
{
	int naxes = s->result->assignment.mesh.naxes, idle = 0;
	int64_t bound;
	for (int i = 0; i < MOST_ROUNDS * naxes && idle < naxes; i++) {
		if (search_is_over(s))
			break;
		outcome o = improve(s, all, axes_from(i % naxes, n, naxes),
				    &bound);
		if (o == TOO_LARGE)
			return false;
		idle = o == BETTER ? 0 : idle + 1;
	}
	return true;
}

static void set_optimal(search_result *r, bool optimal)
{
	for (int a = 0; a < r->assignment.mesh.naxes; a++)
		r->optimal_by_step[a] = optimal;
}

void search_at_once(search *s, const rules *wanted)
{
	search_result *r = s->result;
	const rules with = search_pinned(s, wanted), *all = &with;
	search_by_step(s, all);
	int naxes = r->assignment.mesh.naxes, n = naxes - 1;
	int64_t bound = -1;
	if (naxes < 2)
		return;
	if (r->total > 0)
		improve(s, all, axes_from(0, naxes, naxes), &bound);
	else
		bound = 0;
	while (bound < r->total && n > 0 && !improve_windows(s, all, n))
		n--;
	set_optimal(r, bound == r->total);
	r->lower_bound = all->complete || r->total == 0 ? bound : -1;
}
