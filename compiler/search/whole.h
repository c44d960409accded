/* All axes of a mesh as one strategy problem. */
#ifndef TDL_COMPILER_SEARCH_WHOLE_H
#define TDL_COMPILER_SEARCH_WHOLE_H

#include "compiler/search/ways.h"

/* Variable t stands for tensor t, if t decides for itself, variable
 * ntensors + n for node n, value i for the i-th of their ways.  A total is C_m
 * of the byte model. */
problem *whole_problem(arena *a, const graph *g, const mesh *m,
		       const ways_set *w);

/* Costs in its tables, in all, at most COST_MAX. */
int64_t whole_cells(const graph *g, const ways_set *w);

#endif
