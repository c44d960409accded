/* Values that may stay partial: which tensors need not be combined before they
 * are read, and by which passings of their kernels nodes pass them on.
 *
 * A tensor may be partial by a reducer if the node that computes it can give
 * such partial results, and every node that reads it can pass them on.  If a
 * node passes on the sum of several tensors, replicated ones can stand for
 * partial ones (layout_zero_axes()); at least one must be partial.  Inputs,
 * constants, states and their next values, and outputs are never partial. */
#ifndef TDL_COMPILER_COST_PARTIAL_VALUES_H
#define TDL_COMPILER_COST_PARTIAL_VALUES_H

#include "compiler/cost/formulate.h"

typedef struct partial_values {
	uint32_t *tensors; /* by tensor: the possible reducers, a bit each */
	/* by node: the passings that some tensors allow, a bit each */
	uint32_t *nodes;
	bool any;	   /* some tensor may be partial */
} partial_values;

typedef enum partial_scope {
	PARTIAL_ALL,
	/* Without tensors that nodes only pass on element by element until they
	 * are combined: that gains nothing. */
	PARTIAL_USEFUL,
	/* Of these, only what kernels without a reduction pass on.  Where only
	 * bytes count, every worker would otherwise compute a whole contraction
	 * to move a smaller result. */
	PARTIAL_CHEAP,
} partial_scope;

/* The partial values of a graph, in a. */
const partial_values *partial_values_of(arena *a, const graph *g,
					partial_scope scope);

/* Adds to the choices c of a tensor, or of a node, at a step those with partial
 * values; p NULL adds none.  One reducer has to combine all partial results of
 * a node, and so of a tensor. */
choices partial_or_dims(const partial_values *p, choices c, const step *s,
			tensor_id t);
choices partial_or_vars(const partial_values *p, choices c, const step *s,
			node_id n);

#endif
