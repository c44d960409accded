/* The exact solver of strategy problems. */
#ifndef TDL_COMPILER_SEARCH_SOLVE_H
#define TDL_COMPILER_SEARCH_SOLVE_H

#include <stdbool.h>

#include "compiler/search/problem.h"

/* What a solution may cost to find.  Counts, not seconds: the same problem has
 * the same solution on every machine. */
typedef struct solve_limits {
	int64_t cells;	/* of the tables that elimination makes, in all */
	int64_t work;	/* additions that elimination makes, in all */
	int64_t steps;	/* of branch and bound, in all; a step is a cost looked
			   at */
	double seconds;	/* from the call on; 0 is no limit.  The best that
			   was found then differs from run to run. */
} solve_limits;

/* 64 MiB of tables, and a second or so altogether. */
solve_limits solve_defaults(void);

typedef struct solution {
	int *value;	     /* per variable */
	int64_t cost;	     /* of value */
	int64_t lower_bound; /* proven: no assignment costs less; the problem's
				top, if nothing is below that */
	bool optimal;	     /* cost == lower_bound */
} solution;

/* Solves p.  Optimal unless the limits were in the way, then the best that was
 * found and what is known of the optimum.  Of equally good assignments always
 * the same one is returned. The result is in a. */
solution solve(arena *a, const problem *p, const solve_limits *limits);

#endif
