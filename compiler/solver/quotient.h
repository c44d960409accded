/* A smaller problem in which variables that are alike take one value: what the
 * equal layers of a network have in common is decided once.  Whatever is solved
 * there is an assignment of the whole, and costs what that costs. */
#ifndef TDL_COMPILER_SOLVER_QUOTIENT_H
#define TDL_COMPILER_SOLVER_QUOTIENT_H

#include "compiler/solver/problem.h"

typedef struct quotient {
	problem *p;
	int *class_of; /* by variable of the whole: the one that it is there */
} quotient;

/* Variables are alike where they have the same costs and, as far as some tables
 * away, the same tables with others that are alike; tables are told apart by
 * their addresses.  Classes are numbered by their first variables.  In a. */
quotient quotient_of(arena *a, const problem *whole);

/* The assignment of the whole that value[] of the quotient stands for. */
void quotient_lift(const quotient *q, int n, const int *value, int *to);

#endif
