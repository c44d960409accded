/* Solution of the problem of joint_problem.h.  Variables are numbered along the
 * flow of data.  A few passes of messages in both directions are usually enough
 * there; elsewhere parts of the problem are solved first.  If a model has equal
 * layers, a better assignment is usually the same in all of them, and is
 * searched for in the quotient. */
#include "config.h"

#include "compiler/planners/joint_solve.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "compiler/solver/local_search.h"
#include "compiler/solver/quotient.h"

enum {
	MOST_ROUNDS = 4,
	/* average size of a class from which the quotient is solved first */
	MANY_ALIKE = 4,
};

/* The position of each variable along the flow of data, in a.  A node comes
 * after its inputs and before its output. */
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

/* The same problem with variable v renumbered place[v], in a. */
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

/* Solves the whole problem within the limits and the time left until `end',
 * looking only for a cost below top. */
static solution solve_below(arena *a, problem *q, int64_t top,
			    const solve_limits *limits, deadline end)
{
	const double least = 1e-6; /* 0 would mean no limit */
	solve_limits left = *limits;
	if (left.seconds > 0)
		left.seconds = fmax(end.at - clock_seconds(), least);
	q->top = top;
	return solve(a, q, &left);
}

/* Improves an assignment.  Regions are solved first: their cost lets the solver
 * remove values.  Then the whole problem is solved, and a result without proof
 * is improved by regions again.  first: a solution of the whole problem that is
 * known to cost less than value[], or NULL. */
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

/* The outcome of a search among assignments in which equivalent variables have
 * the same value. */
typedef struct alike {
	int64_t cost; /* of the assignment */
	/* there are so many equivalent variables that the search ran */
	bool many;
	bool none;    /* proven: no such assignment is better */
} alike;

/* Replaces an assignment of cost top by a better one in which equivalent
 * variables have the same value, if one is found. */
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

/* Like improve(), for a problem that is solved quickly.  Solving the whole
 * problem with a cost to beat usually takes less time than visiting all
 * regions.
 *
 * If many variables are equivalent, the quotient is solved first.  A better
 * assignment found there is enough for one call.  If the quotient is proven to
 * have none, the whole problem hardly ever has one, as the bounds of both are
 * about the same.  Otherwise the search goes on only if a bound promises a
 * gain. */
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
