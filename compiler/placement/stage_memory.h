/* The memory of the stages of a model, read off its program for one device.
 *
 * A stage [i, j) runs those steps of the program that belong to its layers, in
 * the program's order, each pass for itself: for a micro-batch the forward pass
 * F and later the backward pass B; U, the steps that run once, when all
 * micro-batches are done.  A step of the backward pass that needs no gradient
 * of a later layer, and that the program runs before the first that does, is
 * one of F: a mask that is kept in place of what it is computed from.
 *
 * A result is in use on a device
 *
 * - from the step that makes it; one of an earlier layer's F from the begin of
 *   F, any other that comes from another stage from the begin of the pass that
 *   first reads it;
 * - to its last reader there; an output of the model, where it is made, to the
 *   end of B, or of U.
 *
 * With recomputation F runs twice, the second time before B: what came from an
 * earlier layer's F, and outputs that F makes, are there from the begin of F to
 * the end of B.
 *
 * A result that lies in the place of another one takes that place over, if its
 * step is the last that reads the other.  Results that lie in a state's place,
 * and what B makes for U (gradients of weights, for which there is room all the
 * time), take nothing.  Constants are there all the time, once, where they are
 * read.
 *
 * Of the bytes in use at one time, those that are so from F to B are kept for
 * each micro-batch in flight.  The rest at its greatest, and constants, are
 * there once: the memory of n micro-batches in flight is that of n - 1 that are
 * between F and B and of one that runs, exactly (of U: at most).  With
 * recomputation what a stage makes itself is there once, but for outputs. */
#ifndef TDL_COMPILER_PLACEMENT_STAGE_MEMORY_H
#define TDL_COMPILER_PLACEMENT_STAGE_MEMORY_H

#include "compiler/placement/cost_graph.h"
#include "compiler/placement/split.h"

typedef struct stage_memory stage_memory;

/* Of a model whose operators belong to layers layer[op], 0 <= layer[op] < n, in
 * a; g and layer are referred to. */
const stage_memory *stage_memory_new(arena *a, const cost_graph *g,
				     const int *layer, int n);

/* Writes kept of all intervals, and running, if there is such a table, and adds
 * the bytes that are there once to fixed. */
void stage_memory_fill(const stage_memory *m, bool recompute, intervals *t);

/* An upper bound of either for any interval. */
double stage_memory_most(const stage_memory *m);

#endif
