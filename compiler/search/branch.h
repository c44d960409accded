/* Branch and bound in one place, for what message passing alone (reduce.h)
 * does not close: dense problems, or ones with many ties. */
#ifndef TDL_COMPILER_SEARCH_BRANCH_H
#define TDL_COMPILER_SEARCH_BRANCH_H

#include "compiler/search/solve.h"

/* Whether p is small enough for that, and so are the costs below its top. */
bool branch_fits(const problem *p);

/* Solves p in at most *steps, from which it takes those that it needs, until
 * the time of CLOCK_MONOTONIC that is given, in seconds; 0 is no limit.  The
 * result is in a. */
solution branch(arena *a, const problem *p, int64_t *steps, double deadline);

#endif
