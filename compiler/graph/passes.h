/* The passes of a step of training: which nodes belong to the backward pass,
 * which forward node each of them serves, and which nodes share states. */
#ifndef TDL_COMPILER_GRAPH_PASSES_H
#define TDL_COMPILER_GRAPH_PASSES_H

#include "compiler/graph/graph.h"

/* By node, except holder. */
typedef struct graph_passes {
	/* In the backward pass: gradients, recomputation for them, and all that
	 * depends on them, including updates. */
	bool *backward;
	/* The forward node that a backward node serves: the one whose gradient
	 * it computes; the one that reads the weight it updates; or that of the
	 * node whose output is the largest it reads; NONE.  For a forward node:
	 * itself. */
	node_id *partner;
	/* The first of the nodes that are bound together because they read or
	 * compute the same state (graph_binds()). */
	node_id *root;
	/* By tensor: a node that reads or computes a tensor in the place of
	 * this state, NONE. */
	node_id *holder;
	bool *overwrites; /* its output is in the place of a state */
} graph_passes;

graph_passes graph_passes_of(arena *a, const graph *g);

/* Whether all nodes that read the tensor must be on the same devices: it is a
 * state, or a weight, of more than one element. */
bool graph_binds(const tensor *t);

#endif
