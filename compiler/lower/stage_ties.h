/* Gradients of weights that several stages read. */
#ifndef TDL_COMPILER_LOWER_STAGE_TIES_H
#define TDL_COMPILER_LOWER_STAGE_TIES_H

#include "compiler/lower/stage_division.h"

/* The graph, in a, in which the terms of one gradient that two stages compute
 * are summed over the turns where they are computed, and added once at the end,
 * rather than in each turn with a message each. g is in turns, divided by d,
 * made by stage_division_new(); *to receives the division of the new graph.
 * Tensors keep their numbers. */
const graph *stage_ties(arena *a, const graph *g, const stage_division *d,
			stage_division *to);

#endif
