/* One canonical order for all ways to write a model. */
#ifndef TDL_COMPILER_GRAPH_CANONICAL_H
#define TDL_COMPILER_GRAPH_CANONICAL_H

#include "compiler/graph/graph.h"

/* The same graph, in a, with nodes and tensors numbered by what it computes,
 * independent of the order of statements, of names, and of the order of
 * operands of commutative functions.  Algorithms that walk a graph by number,
 * or break ties by number, then do the same for all ways to write it.
 *
 * Nodes are in depth-first order.  The roots, which are the outputs and the
 * next values of states, are ordered by the longest chain of nodes before them;
 * each comes after the nodes it needs that are not placed yet.  Operands of a
 * node are visited longest chain first.  Ties are broken by a colour, refined
 * from inputs and outputs until no class of tensors splits any more (Weisfeiler
 * and Leman, 1968); remaining ties by the order as written.
 *
 * The lists of inputs and outputs keep their order.  Shares everything but
 * tensors, nodes and lists with g. */
graph *graph_canonical(arena *a, const graph *g);

/* The number of each node and tensor in that order. */
typedef struct graph_numbers {
	int *nodes, *tensors;
	int *depths; /* by node: the longest chain of nodes before it */
	/* by node: the same of kernels that compute the same, but for the order
	 * of operands of commutative functions, in every graph */
	uint64_t *kernels;
} graph_numbers;

/* The numbers that graph_canonical() assigns; in a.  Reads kernels, inputs and
 * outputs of g's nodes, and everything about tensors but names and
 * constants. */
graph_numbers graph_canonical_numbers(arena *a, const graph *g);

#endif
