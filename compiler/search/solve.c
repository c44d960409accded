/* What to eliminate, and when: variables of degree 0, 1 and 2 first, then each
 * component of what is left, in an order found beforehand or, where no order
 * is within the limits, by branch and bound. */
#include "config.h"

#include "compiler/search/solve.h"

#include <assert.h>

#include "compiler/search/eliminate.h"
#include "compiler/search/order.h"

solve_limits solve_defaults(void)
{
	return (solve_limits){ .cells = (int64_t)1 << 23,
			       .work = (int64_t)1 << 29,
			       .steps = (int64_t)1 << 26 };
}

/* Whether folding v, of degree 2 at most, is within the limits; counts it. */
static bool may_fold(solver *s, solve_limits *left, int v)
{
	int64_t cells = 1;
	for (int i = 0; i < s->at[v].n; i++) {
		const factor *f = s->at[v].at[i];
		if (!f->dead)
			cells *= s->nvalues[factor_other(f, v)];
	}
	int64_t work = cost_mul(cells, s->nvalues[v]);
	if (cells > left->cells || work > left->work)
		return false;
	left->cells -= cells;
	left->work -= work;
	return true;
}

/* Eliminates variables of degree 0, 1 and 2, until there are no more.  All
 * factors are of two variables, before and after, one per pair. */
static void fold(solver *s, solve_limits *left)
{
	int_vec queue = { 0 };
	for (int v = 0; v < s->n; v++)
		vec_push(s->tmp, &queue, v);
	for (int head = 0; head < queue.n; head++) {
		int v = queue.at[head];
		if (s->done[v] || s->nlive[v] > 2 || !may_fold(s, left, v))
			continue;
		solver_eliminate(s, v);
		const factor_vec *had = &s->stack.at[s->stack.n - 1].factors;
		for (int i = 0; i < had->n; i++) {
			const factor *f = had->at[i];
			int u = factor_other(f, v);
			if (s->nlive[u] <= 2)
				vec_push(s->tmp, &queue, u);
		}
	}
}

/* The variables left that are connected to v, in ascending order of their
 * first encounter; index[] is their place in it. */
static int_vec component_of(solver *s, int v, int *index)
{
	int_vec all = { 0 };
	vec_push(s->tmp, &all, v);
	index[v] = 0;
	for (int i = 0; i < all.n; i++) {
		const factor_vec *at = &s->at[all.at[i]];
		for (int j = 0; j < at->n; j++) {
			const factor *f = at->at[j];
			int u = factor_other(f, all.at[i]);
			if (f->dead || index[u] >= 0)
				continue;
			index[u] = all.n;
			vec_push(s->tmp, &all, u);
		}
	}
	return all;
}

static meet meet_of(solver *s, const int_vec *vars, const int *index)
{
	int *nvalues = ARENA_ARRAY(s->tmp, int, vars->n);
	meet m = { vars->n, nvalues, ARENA_ARRAY(s->tmp, int_vec, vars->n) };
	for (int i = 0; i < vars->n; i++) {
		const factor_vec *at = &s->at[vars->at[i]];
		nvalues[i] = s->nvalues[vars->at[i]];
		for (int j = 0; j < at->n; j++) {
			const factor *f = at->at[j];
			int u = factor_other(f, vars->at[i]);
			if (!f->dead)
				vec_push(s->tmp, &m.adjacent[i], index[u]);
		}
	}
	return m;
}

/* A component as a problem of its own. */
static problem *problem_of(solver *s, const int_vec *vars, const int *index)
{
	problem *p = problem_new(s->tmp);
	for (int i = 0; i < vars->n; i++) {
		int v = vars->at[i];
		problem_add_var(p, s->nvalues[v]);
		for (int k = 0; k < s->nvalues[v]; k++)
			problem_add_cost(p, i, k, s->unary[v][k]);
	}
	for (int i = 0; i < vars->n; i++) {
		const factor_vec *at = &s->at[vars->at[i]];
		for (int j = 0; j < at->n; j++) {
			const factor *f = at->at[j];
			if (!f->dead && f->vars[0] == vars->at[i])
				problem_add_table(p, i, index[f->vars[1]],
						  f->cost);
		}
	}
	return p;
}

static void solve_component(solver *s, const int_vec *vars, const int *index,
			    solve_limits *left)
{
	meet m = meet_of(s, vars, index);
	elimination e = order_variables(s->tmp, &m, left->cells,
					left->work);
	if (e.order) {
		left->cells -= e.cells;
		left->work -= e.work;
		for (int i = 0; i < vars->n; i++)
			solver_eliminate(s, vars->at[e.order[i]]);
		return;
	}
	const problem *p = problem_of(s, vars, index);
	solution b = solve_branch(s->tmp, p, &left->steps);
	for (int i = 0; i < vars->n; i++) {
		s->value[vars->at[i]] = b.value[i];
		s->done[vars->at[i]] = true;
	}
	s->least = cost_add(s->least, b.lower_bound);
}

solution solve(arena *a, const problem *p, const solve_limits *limits)
{
	arena *tmp = arena_new();
	solver s = solver_new(a, tmp, p);
	solve_limits left = *limits;
	int *index = ARENA_ARRAY(tmp, int, s.n);
	fold(&s, &left);
	for (int v = 0; v < s.n; v++)
		index[v] = -1;
	for (int v = 0; v < s.n; v++) {
		if (s.done[v])
			continue;
		int_vec vars = component_of(&s, v, index);
		solve_component(&s, &vars, index, &left);
	}
	solver_read_back(&s);
	solution r = { .value = s.value, .cost = problem_cost(p, s.value),
		       .lower_bound = s.least };
	r.optimal = r.cost == r.lower_bound;
	assert(r.lower_bound <= r.cost);
	arena_free(tmp);
	return r;
}
