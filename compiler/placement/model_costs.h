/* Our own models as cost graphs. */
#ifndef TDL_COMPILER_PLACEMENT_MODEL_COSTS_H
#define TDL_COMPILER_PLACEMENT_MODEL_COSTS_H

#include "compiler/cost/topology.h"
#include "compiler/graph/graph.h"
#include "compiler/placement/cost_graph.h"

/* The operators of a graph, each whole, on a machine; path is the model's file.
 * NULL when errors were added.
 *
 * - A node is an operator that takes the time of its kernel alone, by the time
 *   model, without fusion; its output is its result, and goes over the
 *   machine's innermost links.
 * - States and weights of more than one element bind: all nodes that read one,
 *   or its next value, and the node that computes that have one colour.  It
 *   lies on the device of the first of them; the next value is written over it
 *   and takes no memory.
 * - Other inputs and constants of more than one element are the results of
 *   operators of their own, which take no time.
 * - Tensors of one element that no node computes lie on every device and count
 *   nothing. */
cost_graph *cost_graph_of_model(arena *a, diag_sink *s, const graph *g,
				const topology *t, const char *path);

#endif
