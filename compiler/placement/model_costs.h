/* Converts our own models to cost graphs. */
#ifndef TDL_COMPILER_PLACEMENT_MODEL_COSTS_H
#define TDL_COMPILER_PLACEMENT_MODEL_COSTS_H

#include "compiler/cost/topology.h"
#include "compiler/graph/graph.h"
#include "compiler/placement/cost_graph.h"

/* The operators of a graph, undivided, on a machine; in a. path is the model's
 * file.  NULL after adding errors.
 *
 * - A node is an operator.  It takes the time of its kernel, by the time model,
 *   without fusion; its output is its result, which travels over the machine's
 *   innermost links.
 * - States and weights of more than one element bind: all nodes that read one,
 *   or its next value, and the node that computes that value have one colour.
 *   It is on the device of the first of them.  The next value overwrites it and
 *   takes no memory.
 * - Other inputs and constants of more than one element are results of
 *   operators of their own, which take no time.
 * - Tensors of one element that no node computes are on every device and count
 *   nothing. */
cost_graph *cost_graph_of_model(arena *a, diag_sink *s, const graph *g,
				const topology *t, const char *path);

#endif
