/* Values that may stay partial: which tensors need not be combined before they
 * are read, and by which of their kernels' passings nodes hand them on.
 *
 * A tensor may be partial by a reducer where the node that computes it can give
 * partial results of that kind, and every node that reads it can hand it on.
 * Where a node hands on the sum of several tensors, those that are replicated
 * stand for partial ones (layout_zero_axes()): one of them has to be partial.
 * An input, a constant, a state and its next value, and an output never are. */
#ifndef TDL_COMPILER_COST_PARTIAL_VALUES_H
#define TDL_COMPILER_COST_PARTIAL_VALUES_H

#include "compiler/cost/formulate.h"

typedef struct partial_values {
	uint32_t *tensors; /* the reducers of each, a bit each */
	uint32_t *nodes;   /* the passings of each that some tensors allow */
	bool any;	   /* some tensor may be partial */
} partial_values;

typedef enum partial_scope {
	PARTIAL_ALL,
	/* Less what nodes hand on element by element until it is combined:
	 * nothing is gained by that. */
	PARTIAL_USEFUL,
	/* Of these, what kernels without a reduction hand on.  Where bytes
	 * alone count, every worker would else run the whole of a contraction
	 * to move a smaller result. */
	PARTIAL_CHEAP,
} partial_scope;

/* Of a graph, in a. */
const partial_values *partial_values_of(arena *a, const graph *g,
					partial_scope scope);

/* The choices c of a tensor, or a node, at a step, and those that are added by
 * partial values; p NULL: none.  All partial results of a node, and so a
 * tensor's, are combined by one reducer. */
choices partial_or_dims(const partial_values *p, choices c, const step *s,
			tensor_id t);
choices partial_or_vars(const partial_values *p, choices c, const step *s,
			node_id n);

#endif
