/* Problems of the solver: random numbers for them, and the check of a solution
 * against all assignments. */
#ifndef TDL_TESTS_UNIT_PROBLEMS_H
#define TDL_TESTS_UNIT_PROBLEMS_H

#include "compiler/solver/solve.h"

/* xorshift64*, so that a test is the same everywhere. */
uint64_t next(uint64_t *seed);

/* The least cost of all assignments. */
int64_t brute_force(arena *a, const problem *p);

/* Asserts that a solution's values, cost and bound go together, where `best' is
 * the least cost; the last three are for messages. */
void check_solution(const problem *p, const solution *s, int64_t best,
		    const char *what, int recipe_no, int round);

#endif
