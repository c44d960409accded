/* The strategy problem: variables with finitely many values, a cost per value,
 * and a table of costs for some pairs of variables.  Its solution is the
 * assignment of least total cost.
 *
 * Nothing here depends on graphs: planners formulate problems (formulate.h),
 * solvers solve them (solve.h). */
#ifndef TDL_COMPILER_SOLVER_PROBLEM_H
#define TDL_COMPILER_SOLVER_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* Costs are in [0, COST_MAX]; sums saturate there.  COST_MAX stands for "at
 * least that much", and assignments of that cost are not distinguished. */
#define COST_MAX ((int64_t)1 << 60)

static inline int64_t cost_clamp(int64_t c)
{
	return c < COST_MAX ? c : COST_MAX;
}

/* x, y <= COST_MAX */
static inline int64_t cost_add(int64_t x, int64_t y)
{
	return cost_clamp(x + y);
}

/* x, y >= 0 */
static inline int64_t cost_mul(int64_t x, int64_t y)
{
	int64_t r;
	return __builtin_mul_overflow(x, y, &r) ? COST_MAX : cost_clamp(r);
}

typedef struct problem_var {
	int nvalues;
	int64_t *cost; /* of each value */
} problem_var;

typedef struct problem_table {
	int x, y;
	const int64_t *cost; /* [nvalues of x][nvalues of y] */
} problem_table;

typedef struct problem {
	arena *arena;
	VEC(problem_var) vars;
	VEC(problem_table) tables;
	int64_t constant; /* added to the cost of every assignment */
	int64_t top;	  /* only assignments that cost less are wanted */
	int64_t unit;	  /* divides the cost of every assignment */
	/* the numbers of variables follow the flow of data: a variable comes
	 * after those that it depends on */
	bool along_flow;
} problem;

/* An empty problem, in a, with top COST_MAX and unit 1. */
problem *problem_new(arena *a);

/* Adds a variable of nvalues >= 1 values, whose costs are all 0.  Returns its
 * number: 0, 1, .. */
int problem_add_var(problem *p, int nvalues);

/* Adds to the cost of one value. */
void problem_add_cost(problem *p, int var, int value, int64_t cost);

/* Adds a table for x != y, of costs up to COST_MAX.  It is not copied, may be
 * shared between pairs, and must outlive the problem. */
void problem_add_table(problem *p, int x, int y, const int64_t *cost);

/* The cost of an assignment: value[0..vars.n). */
int64_t problem_cost(const problem *p, const int *value);

#endif
