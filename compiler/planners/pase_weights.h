/* Weights that several operators read, as in the steps of an unrolled loop.
 *
 * A weight's gradient is the sum of the contributions of all its readers.
 * Readers that are divided alike add up their parts locally, and the devices
 * exchange the sum once.  Each such weight therefore has a variable of its own
 * in PaSE's problem: the division of the gradient that is exchanged once.
 * Readers whose contribution is divided differently exchange it by themselves;
 * with value 0 all do. */
#ifndef TDL_COMPILER_PLANNERS_PASE_WEIGHTS_H
#define TDL_COMPILER_PLANNERS_PASE_WEIGHTS_H

#include "compiler/graph/graph.h"
#include "compiler/planners/pase_layers.h"

typedef struct weight_use {
	node_id node;
	int input;
} weight_use;

typedef struct shared_weight {
	int n;
	weight_use *uses;
} shared_weight;

typedef struct shared_weights {
	int n;
	shared_weight *at;
	uint32_t *inputs; /* by node: the inputs that are such a weight */
} shared_weights;

/* The weights that at least two nodes of the forward pass read, in a. */
shared_weights *pase_weights(arena *a, const graph *g, const bool *forward);

/* Adds a variable for each weight, and tables between it and its readers, whose
 * own costs leave out their part of its gradient.  Returns false if tables are
 * too large. */
bool pase_weights_add(arena *a, layers *l, const shared_weights *w);

/* The cost of the gradients of these weights for a configuration of each
 * node. */
int64_t pase_weights_cost(const graph *g, const shared_weights *w,
			  const counts *of);

#endif
