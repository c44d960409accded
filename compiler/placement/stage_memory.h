/* The memory of the stages of a model, derived from its program for one device.
 *
 * A stage [i, j) runs the steps of the program that belong to its layers, in
 * the program's order, separately for each pass: for a micro-batch the forward
 * pass F and later the backward pass B; and U, the steps that run once, when
 * all micro-batches are done.  A step of the backward pass that needs no
 * gradient of a later layer, and that the program runs before the first step
 * that does, belongs to F: for example a mask that is kept in place of the
 * tensor it is computed from.
 *
 * A result is in use on a device
 *
 * - from the step that computes it.  If it comes from an earlier layer's F,
 *   from the begin of F; if it comes from another stage otherwise, from the
 *   begin of the pass that first reads it;
 * - to its last reader there.  An output of the model, on the device that
 *   computes it, to the end of B, or of U.
 *
 * With recomputation F runs twice, the second time before B.  Results from an
 * earlier layer's F, and outputs that F computes, are then present from the
 * begin of F to the end of B.
 *
 * A result that overwrites another takes its place if its step is the last that
 * reads the other.  Results in a state's place take no memory, nor do those
 * that B computes for U (gradients of weights, for which there is always room).
 * Constants are present all the time, once, where they are read.
 *
 * Of the bytes in use at one time, those in use from F to B are kept for each
 * micro-batch in flight.  The greatest sum of the others, plus constants, is
 * counted once.  The memory of n micro-batches in flight is then that of n - 1
 * between F and B and of one that runs: exactly, or for U at most.  With
 * recomputation, what a stage computes itself is counted once, except
 * outputs. */
#ifndef TDL_COMPILER_PLACEMENT_STAGE_MEMORY_H
#define TDL_COMPILER_PLACEMENT_STAGE_MEMORY_H

#include "compiler/placement/cost_graph.h"
#include "compiler/placement/split.h"

typedef struct stage_memory stage_memory;

/* For a model whose operators belong to layers layer[op], 0 <= layer[op] < n;
 * in a.  Refers to g and layer. */
const stage_memory *stage_memory_new(arena *a, const cost_graph *g,
				     const int *layer, int n);

/* Writes kept for all intervals, and running if that table exists; adds the
 * bytes counted once to fixed. */
void stage_memory_fill(const stage_memory *m, bool recompute, intervals *t);

/* An upper bound of either for any interval. */
double stage_memory_most(const stage_memory *m);

#endif
