/* Conditioning: splits a problem in two, one where a variable has a given
 * value, and one where it has another. */
#ifndef TDL_COMPILER_SOLVER_CONDITIONING_H
#define TDL_COMPILER_SOLVER_CONDITIONING_H

#include <stdbool.h>

#include "compiler/solver/problem.h"

typedef struct condition {
	int var, value;
} condition;

/* The variable for which a wrong value is worst, by its own costs and the least
 * ones in its tables, and its best value.  Some variable of p has to have
 * several values. */
condition condition_choose(const problem *p);

/* The problems in which the variable has the value, and in which it has
 * another, in a; tables that do not change are shared. */
problem *condition_with(arena *a, const problem *p, const condition *s);
problem *condition_without(arena *a, const problem *p, const condition *s);

#endif
