/* One order for all ways to write a model. */
#ifndef TDL_COMPILER_GRAPH_CANONICAL_H
#define TDL_COMPILER_GRAPH_CANONICAL_H

#include "compiler/graph/graph.h"

/* The same graph, its nodes and tensors numbered by what it computes, whatever
 * the order of the statements, the names, and the order of operands that a
 * commutative function takes: what looks at a graph from 0 on, and decides ties
 * by numbers, does the same for all of them.
 *
 * Nodes are in depth-first order.  The order is that of need: the outputs and
 * the next values of states, each after all that it needs and has not been
 * computed, go by the longest chain of nodes before them; so do the operands of
 * a node, the longest chain first.  Those that are equal then are told apart by
 * a colour, which is refined from inputs and outputs until no class of tensors
 * divides any more (Weisfeiler and Leman, 1968), and only what that leaves
 * equal by the order as written.
 *
 * The lists of inputs and outputs keep their order.  Shares all but tensors,
 * nodes and lists with g; in a. */
graph *graph_canonical(arena *a, const graph *g);

/* By node and by tensor: the number in that order. */
typedef struct graph_numbers {
	int *nodes, *tensors;
	int *depths; /* by node: the longest chain of nodes before it */
} graph_numbers;

/* The numbers that graph_canonical() gives; in a.  Of g, kernels, inputs and
 * outputs of nodes are read, and all of tensors but names and constants. */
graph_numbers graph_canonical_numbers(arena *a, const graph *g);

#endif
