/* A partial assignment: a plan of which a part is decided, by a rule, by the
 * user's pins or by another cost model, and the rest is not. */
#ifndef TDL_COMPILER_PLANNERS_PARTIAL_ASSIGNMENT_H
#define TDL_COMPILER_PLANNERS_PARTIAL_ASSIGNMENT_H

#include "compiler/planners/planner.h"

struct partial_assignment {
	const graph *graph;
	cuts *tensors, *nodes;
	bool *tensor_set, *node_set; /* whether it is decided */
	bool *or_replicated; /* of a tensor that is decided: it may also be
				replicated, where that moves less */
	/* All axes divide alike, as if they were one, where that is possible,
	 * and values may stay partial, unless the search is of the variant
	 * without. */
	bool as_one;
};

/* Nothing is decided. */
partial_assignment partial_assignment_new(arena *a, const graph *g);

/* Gives a state and its value after a run the same layout, where one of both is
 * decided.  Returns a state whose layout is decided otherwise than that of its
 * next value, or NONE. */
tensor_id partial_assignment_tie(partial_assignment *o);

/* Whether the last axis of as->mesh can cut a tensor along dimension d, or
 * divide a node along variable v, given the choices of as for the axes before:
 * NULL, or the reason why not.  CUT_NONE always can. */
const char *partial_assignment_refuses_dim(arena *a, const step *s, tensor_id t,
					   int d);
const char *partial_assignment_refuses_var(arena *a, const step *s, node_id n,
					   int v);

/* For each node whether it belongs to the forward pass: it is no part of the
 * computation of a gradient, and depends on none.  All nodes of a graph without
 * training do. */
bool *partial_assignment_forward(arena *a, const graph *g);

/* Fills in the result: decided tensors and nodes as they are, axis after axis
 * over the prime factors of k, the rest such that the fewest bytes are moved.
 * The rest may stay undivided, except that nodes that compute gradients of a
 * divided node are divided.  A gradient has the layout of the tensor that it is
 * the gradient of, but the terms of one that is a sum may have any; the next
 * value of a state has that of the state. */
void partial_assignment_complete(search *s, partial_assignment *o);

#endif
