/* Taking out of a problem the values that no better assignment has.
 *
 * Message passing (TRW-S; Kolmogorov, IEEE PAMI 28, 2006, in whole numbers)
 * raises a lower bound and finds good assignments; a value is taken out when
 * every assignment with it costs at least as much as the best one found.
 * docs/solver.md proves that an optimum is left, or found. */
#ifndef TDL_COMPILER_SEARCH_REDUCE_H
#define TDL_COMPILER_SEARCH_REDUCE_H

#include <stdbool.h>

#include "compiler/search/problem.h"

typedef struct reduction {
	int *best;	   /* the best assignment found */
	int64_t best_cost; /* what it costs, at most the problem's top */
	int64_t bound;	   /* no assignment costs less, best_cost at most */
	/* The values that are left, ascending, of each variable.  A cheaper
	 * assignment than best has only such; where bound < best_cost, each
	 * variable has one. */
	int *nvalues, **values;
	/* What is left as a problem of its own, with the same cost for every
	 * assignment below best_cost, moved from tables to values as far as
	 * that raised the bound; where bound < best_cost.  Its costs are in
	 * parts of 1 / 2^shift. */
	problem *rest; /* NULL also if next to nothing was gained */
	int shift;
} reduction;

/* The result is in a.  Goes on while that pays, or with `glance` while it pays
 * very much, at most to the time of CLOCK_MONOTONIC that is given, in seconds,
 * and there and back once; 0 is no limit. */
reduction reduce_problem(arena *a, const problem *p, double deadline,
			 bool glance);

#endif
