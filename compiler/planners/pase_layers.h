/* PaSE's problem: a configuration for each operator of the forward pass. */
#ifndef TDL_COMPILER_PLANNERS_PASE_LAYERS_H
#define TDL_COMPILER_PLANNERS_PASE_LAYERS_H

#include "compiler/planners/pase_cost.h"
#include "compiler/solver/solve.h"
#include "compiler/graph/graph.h"

/* The configurations of a kernel, and their layer costs. */
typedef struct pase_configs {
	const kernel *kernel;
	uint32_t without; /* inputs whose gradients' costs are not in it */
	int n;
	counts *at;
	int64_t *cost;
	bool all; /* none was left out for being one too many */
} pase_configs;

typedef struct layers {
	/* Of each node, the same for equal kernels; NULL where it is not in
	 * the forward pass. */
	const pase_configs **of;
	problem *problem; /* a variable per node; those that are not in the
			     forward pass have one value and cost nothing.
			     Behind them those of pase_weights.h */
	int64_t cells;	  /* of its tables */
	bool all;	  /* as in every layer */
} layers;

enum { PASE_MOST_CELLS = 1 << 26 }; /* of all tables, equal ones once */

/* Limits of the set of configurations. */
typedef struct layer_limits {
	int devices; /* p: the product of the counts is at most that */
	bool mesh;   /* and divides it, so that the counts are products of the
			axes of a mesh; else they divide it or the extents */
	int most;    /* configurations of a kernel: where there are more, only
			those with parts of 2, 4, .. elements at least */
} layer_limits;

/* The problem, in a; NULL where its tables are too large. */
layers *layers_formulate(arena *a, const graph *g, const bool *forward,
			 const layer_limits *limits);

/* The cost of one configuration for each node, counts[n]. */
int64_t layers_cost(const graph *g, const bool *forward,
		    const counts *of);

#endif
