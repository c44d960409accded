/* Strategy problems as 0-1 programs for external solvers: the oracle that our
 * own solver is compared with, and the planner `ilp'.
 *
 * A variable's values are 0-1 columns of which one is 1, a table's entries
 * columns that are the products of two of these: their sum over a row, or a
 * column, of the table is that value's (the formulation of Alpa, OSDI'22,
 * section 4.2, with the tighter constraints of the local polytope). */
#ifndef TDL_COMPILER_SOLVER_ILP_H
#define TDL_COMPILER_SOLVER_ILP_H

#include <stdio.h>

#include "compiler/solver/solve.h"

typedef struct ilp_result {
	const char *error; /* NULL, or why there is no solution */
	bool absent;	   /* because no solver is installed */
	const char *solver; /* name of the solver: "highs", "glpsol" */
	/* Optimal if the solver says so; it computes in floating point, so this
	 * holds up to its tolerances. */
	solution solution;
} ilp_result;

/* Solves p by `highs' or `glpsol', whichever is first found in $PATH, in at
 * most that many seconds. */
ilp_result ilp_solve(arena *a, const problem *p, int seconds);

/* The program in the free MPS format, written to f.  The columns of variables
 * of several values come first, in the order of variables and values.  Costs
 * are divided by their greatest common divisor. */
void ilp_write(const problem *p, FILE *f);

/* Columns of the program. */
int64_t ilp_columns(const problem *p);

#endif
