/* The passes of a step of training: which nodes are of the backward pass, what
 * each of these is there for, and which nodes share states. */
#ifndef TDL_COMPILER_GRAPH_PASSES_H
#define TDL_COMPILER_GRAPH_PASSES_H

#include "compiler/graph/graph.h"

/* All but holder by node. */
typedef struct graph_passes {
	/* Of the backward pass: gradients, what is computed again for them,
	 * and all that needs them, updates among it. */
	bool *backward;
	/* The node of the forward pass that a node of the backward pass is
	 * there for: whose gradient it computes, that reads the weight which
	 * it changes, or that of the node whose output is the largest that it
	 * reads; NONE.  A node of the forward pass: itself. */
	node_id *partner;
	/* The first of the nodes that are bound together, since they read or
	 * compute the same state (graph_binds()). */
	node_id *root;
	/* By tensor: a node that reads or computes what lies where this state
	 * does, NONE. */
	node_id *holder;
	bool *overwrites; /* its output lies where a state does */
} graph_passes;

graph_passes graph_passes_of(arena *a, const graph *g);

/* Whether the nodes that read a tensor have to lie together: a state, or a
 * weight, of more than one element. */
bool graph_binds(const tensor *t);

#endif
