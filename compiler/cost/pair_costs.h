/* Byte costs of a node together with one of its tensors, for all choices of
 * both on one axis, and a cache of these tables.  Used by formulate.c. */
#ifndef TDL_COMPILER_COST_PAIR_COSTS_H
#define TDL_COMPILER_COST_PAIR_COSTS_H

#include "compiler/cost/formulate.h"

/* A node's kernel and one tensor, and their cuts on the earlier axes. */
typedef struct pair {
	const kernel *kernel;
	uint32_t inputs; /* the inputs that are the tensor; 0: it is the
			    result */
	int runs;	 /* of the node: graph_runs() */
	const cuts *node_cuts, *tensor_cuts;
	const choices *vars, *dims;
} pair;

/* A cache of computed tables; networks repeat their blocks. */
typedef struct pair_cache pair_cache;

/* Everything is in a; the last axis of m is the one being decided. */
pair_cache *pair_cache_new(arena *a, const mesh *m);

/* Bytes over all groups, [vars->n][dims->n]. */
const int64_t *pair_table(pair_cache *c, const pair *p);

#endif
