/* Gradients of weights that several stages read. */
#ifndef TDL_COMPILER_LOWER_STAGE_TIES_H
#define TDL_COMPILER_LOWER_STAGE_TIES_H

#include "compiler/lower/stage_division.h"

/* The graph, in a, in which what two stages compute of one gradient is added up
 * over the turns where it is computed, and then once; not in each turn, for
 * which a message would go with each.  g is in turns, divided by d, which is of
 * stage_division_new(); *to becomes the division of the new graph.  Tensors
 * keep their numbers. */
const graph *stage_ties(arena *a, const graph *g, const stage_division *d,
			stage_division *to);

#endif
