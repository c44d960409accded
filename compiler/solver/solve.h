/* The exact solver of strategy problems.  docs/solver.md describes it, and
 * proves its parts. */
#ifndef TDL_COMPILER_SOLVER_SOLVE_H
#define TDL_COMPILER_SOLVER_SOLVE_H

#include <stdbool.h>

#include "compiler/solver/problem.h"

/* Limits of the work for a solution: counts, not seconds, so that the same
 * problem has the same solution on every machine. */
typedef struct solve_limits {
	int64_t cells;	/* of the tables that elimination makes, in all */
	int64_t work;	/* additions that elimination makes, in all */
	int64_t steps;	/* of branch and bound, in all; each step looks at one
			   cost */
	double seconds;	/* from the call on; 0 is no limit.  The best that
			   was found then differs from run to run. */
	bool hopeful;	/* a problem along the flow of data of which the first
			   few passes promise little is given up */
} solve_limits;

/* 64 MiB of tables, and a second or so altogether. */
solve_limits solve_defaults(void);

typedef struct solution {
	int *value;	     /* per variable */
	int64_t cost;	     /* of value */
	int64_t lower_bound; /* proven: no assignment costs less; the problem's
				top, if none is below that */
	bool optimal;	     /* cost == lower_bound */
} solution;

/* Solves p, the result is in a.  It is optimal unless the limits were reached;
 * then it is the best assignment found, with the best lower bound known.  Of
 * equally good assignments always the same one is returned. */
solution solve(arena *a, const problem *p, const solve_limits *limits);

#endif
