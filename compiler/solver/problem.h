/* The strategy problem: variables with finitely many values, a cost per value,
 * and a table of costs for some pairs of variables.  Its solution is the
 * assignment of least total cost.
 *
 * It knows nothing of graphs: planners formulate problems (formulate.h),
 * solvers solve them (solve.h). */
#ifndef TDL_COMPILER_SOLVER_PROBLEM_H
#define TDL_COMPILER_SOLVER_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* Costs lie in [0, COST_MAX]; sums stop there.  COST_MAX thus stands for "at
 * least that much", and assignments that cost it are not told apart. */
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
	int64_t constant; /* part of the cost of every assignment */
	int64_t top;	  /* only assignments that cost less are wanted */
	int64_t unit;	  /* divides the cost of every assignment */
	bool along_flow;  /* the numbers of variables follow the flow of data: a
			     variable comes after those that it depends on */
} problem;

/* An empty problem in a, without a top: it is COST_MAX, the unit is 1. */
problem *problem_new(arena *a);

/* Adds a variable of nvalues >= 1 values, whose costs are all 0; returns its
 * number: 0, 1, .. */
int problem_add_var(problem *p, int nvalues);

/* Adds to the cost of one value. */
void problem_add_cost(problem *p, int var, int value, int64_t cost);

/* Adds a table for x != y, of costs up to COST_MAX; it is not copied, may be
 * shared between pairs, and has to outlive the problem. */
void problem_add_table(problem *p, int x, int y, const int64_t *cost);

/* The cost of an assignment: value[0..vars.n). */
int64_t problem_cost(const problem *p, const int *value);

#endif
