/* A partial assignment: a plan part of which is decided (by a rule, by the
 * user's pins or by another cost model) and part of which is open. */
#ifndef TDL_COMPILER_PLANNERS_PARTIAL_ASSIGNMENT_H
#define TDL_COMPILER_PLANNERS_PARTIAL_ASSIGNMENT_H

#include "compiler/planners/planner.h"

struct partial_assignment {
	const graph *graph;
	cuts *tensors, *nodes;
	bool *tensor_set, *node_set; /* whether each is decided */
	/* by decided tensor: it may also be replicated, if that moves less */
	bool *or_replicated;
	/* Where possible all axes divide alike, as if they were one; and values
	 * may stay partial, unless the search's variant excludes that. */
	bool as_one;
};

/* A partial assignment in which nothing is decided, in a. */
partial_assignment partial_assignment_new(arena *a, const graph *g);

/* If a state or its next value is decided, gives the other the same layout.
 * Returns a state whose layout is decided differently from its next value's, or
 * NONE. */
tensor_id partial_assignment_tie(partial_assignment *o);

/* The reason why the last axis of as->mesh cannot cut a tensor along dimension
 * d, or divide a node along variable v, given the choices of as for the axes
 * before; NULL if it can.  CUT_NONE is always possible. */
const char *partial_assignment_refuses_dim(arena *a, const step *s, tensor_id t,
					   int d);
const char *partial_assignment_refuses_var(arena *a, const step *s, node_id n,
					   int v);

/* By node, in a: whether it belongs to the forward pass: it takes no part in
 * the computation of a gradient, and depends on none.  True for all nodes of a
 * graph without training. */
bool *partial_assignment_forward(arena *a, const graph *g);

/* Fills in the result: decided tensors and nodes as they are; the others, axis
 * after axis over the prime factors of k, so that the fewest bytes move.  They
 * may stay undivided, except that nodes which compute gradients of a divided
 * node are divided.  A gradient has the layout of its tensor, but terms of a
 * sum may have any layout; the next value of a state has that of the state. */
void partial_assignment_complete(search *s, partial_assignment *o);

#endif
