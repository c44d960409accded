/* Branch and bound on the state of message passing (messages.h), for problems
 * that message passing alone (message_passing.h) does not solve: dense ones, or
 * ones with many ties.  Used by solve.c. */
#ifndef TDL_COMPILER_SOLVER_BRANCH_H
#define TDL_COMPILER_SOLVER_BRANCH_H

#include "base/clock.h"
#include "compiler/solver/solve.h"

/* Whether p, and the costs below its top, are small enough for that. */
bool branch_fits(const problem *p);

/* Solves p in at most *steps, from which the steps used are subtracted, and
 * until `end'.  The result is in a. */
solution branch(arena *a, const problem *p, int64_t *steps, deadline end);

#endif
