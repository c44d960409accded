/* A plan of which a part is decided, by a rule or by another model of costs,
 * and the rest is not. */
#ifndef TDL_COMPILER_SEARCH_OUTLINE_H
#define TDL_COMPILER_SEARCH_OUTLINE_H

#include "compiler/search/planner.h"

struct outline {
	const graph *graph;
	cuts *tensors, *nodes;
	bool *tensor_set, *node_set; /* whether it is decided */
};

/* Nothing is decided. */
outline outline_new(arena *a, const graph *g);

/* What becomes of a state lies like the state, where one of both is decided.
 * Returns a state that is decided otherwise than what it becomes, or NONE. */
tensor_id outline_tie(outline *o);

/* Whether a tensor can be cut along dimension d, a node divided along variable
 * v, by the last axis of as->mesh, after what as says of the axes before: NULL,
 * or why not.  CUT_NONE always can. */
const char *outline_refuses_dim(arena *a, const step *s, tensor_id t, int d);
const char *outline_refuses_var(arena *a, const step *s, node_id n, int v);

/* Per node whether it belongs to the forward pass: it helps to compute no
 * gradient, and needs none.  All nodes of a graph that is not trained do. */
bool *outline_forward(arena *a, const graph *g);

/* Fills in the result: what is decided as it is, axis after axis over the prime
 * factors of k, and the rest such that the fewest bytes are moved then; it may
 * be whole, but what helps to compute the gradients of a divided node is
 * divided.  A gradient lies like the tensor that it is the gradient of, and
 * what a state becomes like the state. */
void outline_complete(search *s, outline *o);

#endif
