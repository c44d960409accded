/* Conditioning: splits a problem in two, one in which a variable has a given
 * value, and one in which it has another. */
#ifndef TDL_COMPILER_SOLVER_CONDITIONING_H
#define TDL_COMPILER_SOLVER_CONDITIONING_H

#include <stdbool.h>

#include "compiler/solver/problem.h"

typedef struct condition {
	int var, value;
} condition;

/* The variable for which a wrong value is worst, judged by its own costs and
 * the least ones in its tables, and its best value.  Some variable of p must
 * have several values. */
condition condition_choose(const problem *p);

/* The problem in which the variable has the value; the one in which it has not.
 * In a; unchanged tables are shared. */
problem *condition_with(arena *a, const problem *p, const condition *s);
problem *condition_without(arena *a, const problem *p, const condition *s);

#endif
