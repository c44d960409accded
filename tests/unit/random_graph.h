/* Small random graphs of made-up kernels. */
#ifndef TDL_TESTS_UNIT_RANDOM_GRAPH_H
#define TDL_TESTS_UNIT_RANDOM_GRAPH_H

#include "compiler/graph/graph.h"
#include "tests/unit/random_layouts.h"

/* A graph of about nnodes nodes, each reading what came before.  All floats
 * are small whole numbers, so that sums are exact in any order. */
graph *random_graph(arena *a, rng *r, int nnodes);

/* Like it, but every tensor is read by one node at most and there is nothing
 * that could be shared. */
graph *random_chain(arena *a, rng *r, int nnodes);

/* Like it, with sums of products and of what else there is, that may stay
 * partial. */
graph *random_sums(arena *a, rng *r, int nnodes);

/* A random graph that is run step by step: some of what it reads are states,
 * and a state becomes what an update makes of it, or some result, or what
 * another tensor is, or it stays. */
graph *random_training(arena *a, rng *r, int nnodes);

/* x[rows, inner] times y[inner, columns], and its remainder by 7. */
graph *matmul_graph(arena *a, int64_t rows, int64_t inner, int64_t columns);

#endif
