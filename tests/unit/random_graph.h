/* Small random graphs of made-up kernels, and random layouts for them. */
#ifndef TDL_TESTS_UNIT_RANDOM_GRAPH_H
#define TDL_TESTS_UNIT_RANDOM_GRAPH_H

#include "compiler/planners/search.h"
#include "plan/plan.h"

/* xorshift64*: the same on every machine. */
typedef struct rng {
	uint64_t state;
} rng;

rng rng_new(uint64_t seed);
int rng_below(rng *r, int n);

/* A graph of about nnodes nodes, each reading what came before.  All floats
 * are small whole numbers, so that sums are exact in any order. */
graph *random_graph(arena *a, rng *r, int nnodes);

/* Like it, but every tensor is read by one node at most and there is nothing
 * that could be shared. */
graph *random_chain(arena *a, rng *r, int nnodes);

/* A random graph that is run step by step: some of what it reads are states,
 * and a state becomes what an update makes of it, or some result, or what
 * another tensor is, or it stays. */
graph *random_training(arena *a, rng *r, int nnodes);

/* x[rows, inner] times y[inner, columns], and its remainder by 7. */
graph *matmul_graph(arena *a, int64_t rows, int64_t inner, int64_t columns);

/* Any cuts that are possible, on one of several small meshes; a state and what
 * it becomes have the same. */
assignment random_assignment(arena *a, rng *r, const graph *g);
assignment random_assignment_on(arena *a, rng *r, const graph *g,
				const mesh *m);

#endif
