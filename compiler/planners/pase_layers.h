/* PaSE's problem: a configuration for each operator of the forward pass. */
#ifndef TDL_COMPILER_PLANNERS_PASE_LAYERS_H
#define TDL_COMPILER_PLANNERS_PASE_LAYERS_H

#include "compiler/planners/pase_cost.h"
#include "compiler/solver/solve.h"
#include "compiler/graph/graph.h"

/* The configurations of a kernel, and their layer costs. */
typedef struct pase_configs {
	const kernel *kernel;
	uint32_t without; /* inputs whose gradients' costs are not included */
	int n;
	counts *at;
	int64_t *cost;
	bool all; /* none was left out because of limits */
} pase_configs;

typedef struct layers {
	/* By node, shared by equal kernels; NULL if it is not in the forward
	 * pass. */
	const pase_configs **of;
	/* One variable per node (nodes outside of the forward pass have one
	 * value and cost nothing), then those of pase_weights.h. */
	problem *problem;
	int64_t cells;	  /* of its tables */
	bool all;	  /* all is set for every layer */
} layers;

enum { PASE_MOST_CELLS = 1 << 26 }; /* in all tables; equal tables count once */

/* Limits of the set of configurations. */
typedef struct layer_limits {
	int devices; /* p: the product of the counts is at most p */
	/* .. and divides p, so that the counts are products of the axes of a
	 * mesh; else each divides p or the variable's extent */
	bool mesh;
	/* configurations of a kernel; if there are more, only those whose parts
	 * have at least 2, 4, .. elements are kept */
	int most;
} layer_limits;

/* Formulates the problem, in a; NULL if its tables are too large. */
layers *layers_formulate(arena *a, const graph *g, const bool *forward,
			 const layer_limits *limits);

/* The cost of a configuration counts[n] for each node. */
int64_t layers_cost(const graph *g, const bool *forward,
		    const counts *of);

#endif
