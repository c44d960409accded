/* Stages that recompute their forward pass before their backward pass. */
#ifndef TDL_COMPILER_LOWER_STAGE_RECOMPUTE_H
#define TDL_COMPILER_LOWER_STAGE_RECOMPUTE_H

#include "compiler/lower/stage_division.h"

/* The graph, in a, in which the backward pass of each part reads recomputed
 * copies of what its own forward pass computes, except outputs of the model.
 * The copies are nodes of the backward pass that start from tensors of other
 * parts, so that nothing else is kept in between. g is in turns, divided by d,
 * made by stage_division_new(); *to receives the division of the new graph.
 * Tensors keep their numbers; copies come after them. */
const graph *stage_recompute(arena *a, const graph *g, const stage_division *d,
			     stage_division *to);

#endif
