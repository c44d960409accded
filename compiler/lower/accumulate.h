/* Sums over time: the parts that the turns of a loop have of a tensor are
 * combined in place, one after the other.  A step of lowering_new(). */
#ifndef TDL_COMPILER_LOWER_ACCUMULATE_H
#define TDL_COMPILER_LOWER_ACCUMULATE_H

#include "compiler/cost/assignment.h"
#include "compiler/graph/turns.h"

/* The graph in which each tensor that is accumulated (graph_turns.total),
 * or its copy, which is not needed where it is laid out alike, is the sum
 * so far, x = x0 + part: what was its node makes the part, and x0 is the
 * neutral element before the first turn.  (*then)[x0] is x, its value in
 * the next turn; -1 for other tensors.  All three are divided over space as
 * the tensor is, so that x0, x and the sum in between have one place.  In
 * a. */
const graph *accumulate_turns(arena *a, const graph *g, assignment *as,
			      const int **then);

#endif
