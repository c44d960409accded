/* Local search: improves an assignment by exact solutions of regions, small
 * sets of neighbouring variables. */
#ifndef TDL_COMPILER_SOLVER_LOCAL_SEARCH_H
#define TDL_COMPILER_SOLVER_LOCAL_SEARCH_H

#include "base/clock.h"
#include "compiler/solver/solve.h"

/* Goes through regions, each a few dozen variables near each other, and makes
 * value[] the best of all assignments that differ from it only in the region,
 * until no region improves it, or until `end'.  The numbers of variables must
 * follow the flow of data.  Returns the cost of value[]. */
int64_t local_search_improve(const problem *p, int *value, deadline end);

#endif
