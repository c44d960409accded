/* Solves the joint problem of all axes along the flow of data. */
#ifndef TDL_COMPILER_PLANNERS_JOINT_SOLVE_H
#define TDL_COMPILER_PLANNERS_JOINT_SOLVE_H

#include "compiler/cost/joint_problem.h"

/* Solves the joint problem, or one with the same variables and tables over the
 * same variables, within the limits. value[]: an assignment to begin with, so
 * that the result costs no more; or NULL. quick: the limits are tight enough to
 * try the whole problem first; of several optima the result may be another one
 * then.  The result is in a. */
solution joint_solve(arena *a, const graph *g, const problem *p,
		     const int *value, bool quick, const solve_limits *limits);

#endif
