/* All axes of a mesh as one strategy problem, whose values are the ways of
 * candidates.h.  Used by joint_search.c, pase.c and ilp_planner.c. */
#ifndef TDL_COMPILER_COST_JOINT_PROBLEM_H
#define TDL_COMPILER_COST_JOINT_PROBLEM_H

#include "compiler/cost/joint_table.h"

/* Variable t stands for tensor t, if t decides for itself, variable
 * ntensors + n for node n, value i for the i-th of their ways.  A total is C_m
 * of the byte model. */
problem *whole_problem(arena *a, const graph *g, const mesh *m,
		       const ways_set *w);

/* The function that fills in a table, as whole_table() does. */
typedef void (*whole_filler)(const mesh *m, const whole_pair *p,
			     int64_t *table);

/* The same with tables of another kind. */
problem *whole_problem_of(arena *a, const graph *g, const mesh *m,
			  const ways_set *w, whole_filler fill);

/* Estimate of the time to make its tables, about nanoseconds. */
int64_t whole_work(const graph *g, const mesh *m, const ways_set *w);

/* The number of entries in its tables, at most COST_MAX. */
int64_t whole_cells(const graph *g, const ways_set *w);

#endif
