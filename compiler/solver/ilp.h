/* Strategy problems as 0-1 programs for external solvers: an oracle to compare
 * our own solver with, and the planner `ilp'.
 *
 * The values of a variable are 0-1 columns, exactly one of which is 1.  The
 * entries of a table are columns that are products of two of these: their sum
 * over a row, or a column, of the table equals that value's column (the
 * formulation of Alpa, OSDI'22, section 4.2, with the tighter constraints of
 * the local polytope). */
#ifndef TDL_COMPILER_SOLVER_ILP_H
#define TDL_COMPILER_SOLVER_ILP_H

#include <stdio.h>

#include "compiler/solver/solve.h"

typedef struct ilp_result {
	const char *error; /* why there is no solution; NULL */
	bool absent;	   /* .. because no solver is installed */
	const char *solver; /* "highs", "glpsol" */
	/* Optimal if the solver says so; it computes in floating point, so this
	 * holds up to its tolerances. */
	solution solution;
} ilp_result;

/* Solves p by `highs' or `glpsol', whichever is found first in $PATH, in at
 * most `seconds'.  The result is in a. */
ilp_result ilp_solve(arena *a, const problem *p, int seconds);

/* Writes the program to f in the free MPS format.  The columns of variables
 * with several values come first, in the order of variables and values.  Costs
 * are divided by their greatest common divisor. */
void ilp_write(const problem *p, FILE *f);

/* The number of columns of the program. */
int64_t ilp_columns(const problem *p);

#endif
