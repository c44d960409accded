/* The exact solver of strategy problems. docs/solver.md describes it, and
 * proves its parts. */
#ifndef TDL_COMPILER_SOLVER_SOLVE_H
#define TDL_COMPILER_SOLVER_SOLVE_H

#include <stdbool.h>

#include "compiler/solver/problem.h"

/* Limits of the work for a solution.  They are counts, not seconds, so that the
 * same problem has the same solution on every machine. */
typedef struct solve_limits {
	int64_t cells;	/* in all tables that elimination makes */
	int64_t work;	/* total additions of elimination */
	/* total steps of branch and bound; each looks at one cost */
	int64_t steps;
	/* from the call on; 0: no limit.  With a limit the best found differs
	 * from run to run. */
	double seconds;
	/* give up a problem along the flow of data whose first few passes
	 * promise little */
	bool hopeful;
} solve_limits;

/* The defaults: 64 MiB of tables, and about a second in all. */
solve_limits solve_defaults(void);

typedef struct solution {
	int *value;	     /* per variable */
	int64_t cost;	     /* of value */
	/* proven: no assignment costs less; the problem's top if none is below
	 * it */
	int64_t lower_bound;
	bool optimal;	     /* cost == lower_bound */
} solution;

/* Solves p; the result is in a.  It is optimal unless the limits were reached;
 * then it is the best assignment found, with the best lower bound known.  Of
 * equally good assignments it always returns the same one. */
solution solve(arena *a, const problem *p, const solve_limits *limits);

#endif
