/* Solving the problem of joint_problem.h: where variables are numbered along
 * the flow of data, a few passes of messages, there and back, mostly suffice;
 * elsewhere parts of the problem are solved first. */
#include "config.h"

#include "compiler/planners/joint_solve.h"

#include "base/clock.h"
#include "compiler/solver/local_search.h"

enum { MOST_ROUNDS = 4 };

/* The places of all variables along the flow of data: the inputs of a node, the
 * node, its output. */
static int *flow_of(arena *a, const graph *g)
{
	int n = 0, nt = g->ntensors;
	int *place = ARENA_ARRAY(a, int, nt + g->nnodes);
	for (tensor_id t = 0; t < nt; t++)
		place[t] = -1;
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *of = &g->nodes[id];
		for (int i = 0; i < of->kernel->ninputs; i++)
			if (place[of->inputs[i]] < 0)
				place[of->inputs[i]] = n++;
		place[nt + id] = n++;
		if (place[of->output] < 0)
			place[of->output] = n++;
	}
	for (tensor_id t = 0; t < nt; t++)
		if (place[t] < 0)
			place[t] = n++;
	return place;
}

/* The same problem, variable v being place[v]. */
static problem *renumbered(arena *a, const problem *p, const int *place)
{
	problem *q = problem_new(a);
	int n = p->vars.n, *at = ARENA_ARRAY(a, int, n);
	q->constant = p->constant;
	q->top = p->top;
	q->unit = p->unit;
	q->along_flow = true;
	for (int v = 0; v < n; v++)
		at[place[v]] = v;
	for (int i = 0; i < n; i++)
		vec_push(a, &q->vars, p->vars.at[at[i]]);
	for (int i = 0; i < p->tables.n; i++) {
		const problem_table *t = &p->tables.at[i];
		problem_add_table(q, place[t->x], place[t->y], t->cost);
	}
	return q;
}

/* Improves an assignment, by regions first: the cost to beat lets the solver
 * remove values.  Then the whole problem is solved; a result without proof may
 * be improved by regions again. */
static solution improve(arena *a, problem *q, int *value,
			const solve_limits *limits, deadline end)
{
	solution s = { value, local_search_improve(q, value, end) };
	for (int i = 0; i < MOST_ROUNDS; i++) {
		q->top = s.cost;
		solution found = solve(a, q, limits);
		if (found.lower_bound > s.lower_bound)
			s.lower_bound = found.lower_bound;
		if (found.cost >= s.cost)
			break;
		s.value = found.value;
		s.cost = found.cost;
		if (s.cost > s.lower_bound)
			s.cost = local_search_improve(q, s.value, end);
		if (s.cost == found.cost)
			break;
	}
	s.optimal = s.cost == s.lower_bound;
	return s;
}

solution joint_solve(arena *a, const graph *g, const problem *p,
		     const int *value, const solve_limits *limits)
{
	arena *tmp = arena_new();
	const int *place = flow_of(tmp, g);
	int n = p->vars.n, *at = ARENA_ARRAY(tmp, int, n);
	int *back = ARENA_ARRAY(a, int, n);
	problem *q = renumbered(tmp, p, place);
	deadline end = deadline_in(limits->seconds);
	for (int v = 0; v < n && value; v++)
		at[place[v]] = value[v];
	solution s = value ? improve(tmp, q, at, limits, end)
			   : solve(tmp, q, limits);
	for (int v = 0; v < n; v++)
		back[v] = s.value[place[v]];
	s.value = back;
	arena_free(tmp);
	return s;
}
