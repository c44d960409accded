/* All axes of a mesh as one strategy problem, with the candidates of
 * candidates.h as values.  Used by joint_search.c, pase.c and ilp_planner.c. */
#ifndef TDL_COMPILER_COST_JOINT_PROBLEM_H
#define TDL_COMPILER_COST_JOINT_PROBLEM_H

#include "compiler/cost/joint_table.h"

/* Variable t stands for tensor t, if it decides for itself; variable ntensors +
 * n for node n; value i for the i-th candidate.  The cost of an assignment is
 * C_m of the byte model. */
problem *joint_problem(arena *a, const graph *g, const mesh *m,
		       const candidate_set *w);

/* A function that fills in a table, as joint_table() does. */
typedef void (*joint_filler)(const mesh *m, const joint_pair *p,
			     int64_t *table);

/* The same with other tables. */
problem *joint_problem_of(arena *a, const graph *g, const mesh *m,
			  const candidate_set *w, joint_filler fill);

/* An estimate of the time to compute the tables, about nanoseconds. */
int64_t joint_work(const graph *g, const mesh *m, const candidate_set *w);

/* The number of entries in its tables, at most COST_MAX. */
int64_t joint_cells(const graph *g, const candidate_set *w);

#endif
