#include "config.h"

#include "compiler/search/search.h"

#include <assert.h>
#include <time.h>

#include "compiler/search/planner.h"
#include "compiler/search/solve.h"
#include "plan/plan.h"

int search_factors(int k, int *factors)
{
	int n = 0;
	for (int p = 2; p <= k / p; p++)
		for (; k % p == 0; k /= p)
			factors[n++] = p;
	if (k > 1)
		factors[n++] = k;
	for (int i = 0; i < n / 2; i++) {
		int f = factors[i];
		factors[i] = factors[n - 1 - i];
		factors[n - 1 - i] = f;
	}
	return n;
}

const char *search_algorithm(int i, const char **about)
{
	const planner *p = planner_at(i);
	if (p && about)
		*about = p->about;
	return p ? p->name : NULL;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Writes the choices that the solver made to the last axis, and what they
 * cost. */
static void keep(search_result *r, const formulation *f, const solution *best)
{
	const graph *g = f->step->g;
	int axis = step_axis(f->step);
	for (tensor_id t = 0; t < g->ntensors; t++)
		r->assignment.tensor_cuts[t].dim[axis] =
			f->tensors[t].at[best->value[t]];
	for (node_id n = 0; n < g->nnodes; n++) {
		int64_t *bytes = r->node_bytes[n];
		r->assignment.node_cuts[n].dim[axis] =
			f->nodes[n].at[best->value[g->ntensors + n]];
		bytes[axis] = formulation_node_bytes(f, n, best->value);
		for (int a = 0; a < axis; a++)
			bytes[axis] -= bytes[a];
	}
	r->by_step[axis] = best->cost - r->total;
	r->total = best->cost;
	r->optimal_by_step[axis] = best->optimal;
	r->lower_bound = best->lower_bound;
}

/* Decides the last axis of the mesh. */
static void search_step(search_result *r, const planner *pl, const void *state,
			const graph *g)
{
	arena *tmp = arena_new();
	step s = { g, &r->assignment };
	choices *dims = ARENA_ARRAY(tmp, choices, g->ntensors);
	choices *vars = ARENA_ARRAY(tmp, choices, g->nnodes);
	solve_limits limits = solve_defaults();
	for (tensor_id t = 0; t < g->ntensors; t++)
		dims[t] = pl->dims(state, &s, t);
	for (node_id n = 0; n < g->nnodes; n++)
		vars[n] = pl->vars(state, &s, n);
	formulation f = formulate(tmp, &s, dims, vars);
	solution best = solve(tmp, f.problem, &limits);
	keep(r, &f, &best);
	arena_free(tmp);
}

static search_result *new_result(arena *a, const graph *g, const char *name)
{
	search_result *r = ARENA_NEW(a, search_result);
	r->algorithm = name;
	r->assignment.tensor_cuts = ARENA_ARRAY(a, cuts, g->ntensors);
	r->assignment.node_cuts = ARENA_ARRAY(a, cuts, g->nnodes);
	r->node_bytes = arena_calloc(a, (size_t)g->nnodes,
				     sizeof(*r->node_bytes));
	for (tensor_id t = 0; t < g->ntensors; t++)
		r->assignment.tensor_cuts[t] = cuts_none();
	for (node_id n = 0; n < g->nnodes; n++)
		r->assignment.node_cuts[n] = cuts_none();
	return r;
}

/* A bound holds for a single step of a planner that leaves nothing out; that
 * nothing is less than 0 needs no proof. */
static void settle_bound(search_result *r, const planner *pl)
{
	bool proven = pl->complete && r->assignment.mesh.naxes == 1;
	if (!proven && r->total > 0)
		r->lower_bound = -1;
}

search_result *search_plan(arena *a, const graph *g, int k,
			   const char *algorithm)
{
	const planner *pl = planner_find(algorithm);
	assert(pl && k >= 1 && k <= PLAN_MAX_WORKERS);
	int factors[MAX_AXES], naxes = search_factors(k, factors);
	double begin = now();
	search_result *r = new_result(a, g, pl->name);
	void *state = pl->start ? pl->start(a, g, k) : NULL;
	mesh *m = &r->assignment.mesh;
	while (m->naxes < naxes) {
		m->size[m->naxes] = factors[m->naxes];
		m->naxes++;
		search_step(r, pl, state, g);
	}
	settle_bound(r, pl);
	r->seconds = now() - begin;
	r->note = pl->note(a, state, g, r);
	return r;
}
