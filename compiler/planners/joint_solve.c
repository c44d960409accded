/* Solving the problem of joint_problem.h: where variables are numbered along
 * the flow of data, a few passes of messages, there and back, mostly suffice;
 * elsewhere parts of the problem are solved first.  Of equal layers a better
 * assignment mostly is equal in all, and is looked for in the quotient. */
#include "config.h"

#include "compiler/planners/joint_solve.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "compiler/solver/local_search.h"
#include "compiler/solver/quotient.h"

enum {
	MOST_ROUNDS = 4,
	MANY_ALIKE = 4, /* variables to a class, with which the quotient is
			   solved first */
};

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

/* The whole problem within the limits, of whose time until `end' is left, with
 * a cost to beat. */
static solution solve_below(arena *a, problem *q, int64_t top,
			    const solve_limits *limits, deadline end)
{
	const double least = 1e-6; /* 0 would be no limit */
	solve_limits left = *limits;
	if (left.seconds > 0)
		left.seconds = fmax(end.at - clock_seconds(), least);
	q->top = top;
	return solve(a, q, &left);
}

/* Improves an assignment, by regions first: the cost to beat lets the solver
 * remove values.  Then the whole problem is solved; a result without proof may
 * be improved by regions again.  first: NULL, or what the whole problem has
 * below the cost of value[]. */
static solution improve(arena *a, problem *q, int *value, const solution *first,
			const solve_limits *limits, deadline end)
{
	solution s = { value, local_search_improve(q, value, end) };
	for (int i = 0; i < MOST_ROUNDS; i++) {
		bool same = i == 0 && first &&
			    (s.cost == q->top || s.cost <= first->lower_bound);
		solution found = same ? *first
				      : solve_below(a, q, s.cost, limits,
						    end);
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

/* The outcome of a search among the assignments in which variables that are
 * alike have one value. */
typedef struct alike {
	int64_t cost; /* of the assignment */
	bool many;    /* so many are alike that this was tried, */
	bool none;    /* and nothing of the kind is better, which is proven */
} alike;

/* Improves an assignment that costs top by one in which variables that are
 * alike have one value. */
static alike improve_alike(const problem *q, int *value, int64_t top,
			   const solve_limits *limits, deadline end)
{
	arena *tmp = arena_new();
	int n = q->vars.n, *to = ARENA_ARRAY(tmp, int, n);
	quotient classes = quotient_of(tmp, q);
	alike x = { .cost = top,
		    .many = classes.p->vars.n <= n / MANY_ALIKE };
	if (x.many) {
		solution found =
			solve_below(tmp, classes.p, top, limits, end);
		quotient_lift(&classes, n, found.value, to);
		x.cost = problem_cost(q, to);
		x.none = found.lower_bound >= top;
		if (x.cost < top)
			memcpy(value, to, (size_t)n * sizeof(*to));
		else
			x.cost = top;
	}
	arena_free(tmp);
	return x;
}

/* The same where the whole problem is quickly solved: an optimum, or that there
 * is nothing below the cost of value[], mostly takes less time than a visit to
 * all regions.  Where many variables are alike, what the quotient has is enough
 * for one call; where it is proven to have nothing, the whole hardly ever has
 * (the bounds of both are much the same), and else more is looked for only if
 * that promises something. */
static solution improve_quickly(arena *a, problem *q, int *value,
				const solve_limits *limits, deadline end)
{
	int64_t top = problem_cost(q, value);
	alike x = improve_alike(q, value, top, limits, end);
	solve_limits some = *limits;
	if (x.cost < top || x.none)
		return (solution){ value, x.cost, q->constant };
	some.hopeful = x.many;
	solution first = solve_below(a, q, top, &some, end);
	if (first.lower_bound >= top)
		return (solution){ value, top, top, .optimal = true };
	if (x.many && first.cost >= top)
		return (solution){ value, top, first.lower_bound };
	return first.optimal ? first
			     : improve(a, q, value, &first, limits, end);
}

solution joint_solve(arena *a, const graph *g, const problem *p,
		     const int *value, bool quick, const solve_limits *limits)
{
	arena *tmp = arena_new();
	const int *place = flow_of(tmp, g);
	int n = p->vars.n, *at = ARENA_ARRAY(tmp, int, n);
	int *back = ARENA_ARRAY(a, int, n);
	problem *q = renumbered(tmp, p, place);
	deadline end = deadline_in(limits->seconds);
	for (int v = 0; v < n && value; v++)
		at[place[v]] = value[v];
	solution s = !value ? solve(tmp, q, limits)
		     : quick ? improve_quickly(tmp, q, at, limits, end)
			     : improve(tmp, q, at, NULL, limits, end);
	for (int v = 0; v < n; v++)
		back[v] = s.value[place[v]];
	s.value = back;
	arena_free(tmp);
	return s;
}
