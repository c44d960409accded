/* A smaller problem in which similar variables take one value, so that what the
 * equal layers of a network have in common is decided once.  Every solution of
 * it is an assignment of the whole problem, of the same cost. */
#ifndef TDL_COMPILER_SOLVER_QUOTIENT_H
#define TDL_COMPILER_SOLVER_QUOTIENT_H

#include "compiler/solver/problem.h"

typedef struct quotient {
	problem *p;
	int *class_of; /* by variable of the whole: its variable here */
} quotient;

/* The quotient of a problem, in a.  Variables are similar if they have the same
 * costs and, up to some distance, the same tables with other variables that are
 * similar; tables are compared by address.  Classes are numbered by their first
 * variables. */
quotient quotient_of(arena *a, const problem *whole);

/* Writes the assignment of the whole, n variables, for the quotient's
 * value[]. */
void quotient_lift(const quotient *q, int n, const int *value, int *to);

#endif
