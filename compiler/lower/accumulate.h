/* Sums over time: the parts of a tensor from the turns of a loop are combined
 * in place, one after the other.  A step of lowering_new(). */
#ifndef TDL_COMPILER_LOWER_ACCUMULATE_H
#define TDL_COMPILER_LOWER_ACCUMULATE_H

#include "compiler/cost/assignment.h"
#include "compiler/graph/turns.h"

/* Replaces each accumulated tensor (graph_turns.total) by a running sum x = x0
 * + part; its copy is dropped if it has the same layout.  The tensor's node now
 * computes the part, and x0 is the neutral element before the first turn.
 * (*then)[x0] is x, the value of x0 in the next turn; -1 for other tensors.
 * All three are divided over space as the tensor is, so that x0, x and the sums
 * in between share one place.  Returns the new graph, in a. */
const graph *accumulate_turns(arena *a, const graph *g, assignment *as,
			      const int **then);

#endif
