/* Stages that compute their forward pass again before their backward pass. */
#ifndef TDL_COMPILER_LOWER_STAGE_RECOMPUTE_H
#define TDL_COMPILER_LOWER_STAGE_RECOMPUTE_H

#include "compiler/lower/stage_division.h"

/* The graph, in a, in which the backward pass of each part reads copies of what
 * its own forward pass computes, outputs of the model aside: nodes of the
 * backward pass that compute the same from what comes from elsewhere, so that
 * nothing else is kept in between.  g is in turns, divided by d, which is of
 * stage_division_new(); *to becomes the division of the new graph.  Tensors
 * keep their numbers, copies come behind. */
const graph *stage_recompute(arena *a, const graph *g, const stage_division *d,
			     stage_division *to);

#endif
