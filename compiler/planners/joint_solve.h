/* Solving the joint problem of all axes along the flow of data. */
#ifndef TDL_COMPILER_PLANNERS_JOINT_SOLVE_H
#define TDL_COMPILER_PLANNERS_JOINT_SOLVE_H

#include "compiler/cost/joint_problem.h"

/* Solves that problem, or one with the same variables and tables between the
 * same, within the limits.  value[]: an assignment to begin with, so that the
 * result costs no more, or NULL.  quick: within the limits nothing takes long,
 * so that the whole is tried first; of several optima the result may be another
 * one then.  The result is in a. */
solution joint_solve(arena *a, const graph *g, const problem *p,
		     const int *value, bool quick, const solve_limits *limits);

#endif
