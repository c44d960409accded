/* Small random graphs of made-up kernels, random layouts for them, and a
 * machine that runs a plan with every worker's arena in memory. */
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

/* One arena per worker, filled with 0xff bytes, constants and states with their
 * elements. */
typedef struct machine {
	const plan *p;
	int nworkers;
	char **arenas;
	int64_t received; /* bytes that came from other workers */
} machine;

machine machine_new(arena *a, const plan *p);

/* Feeds the inputs with small numbers, always the same, and runs the program;
 * aborts the test where a kernel reads what it must not. */
void machine_run(machine *m);

/* The reference of a program: its nodes on whole tensors, each with memory of
 * its own, and all states at once after that. */
typedef struct oracle {
	const plan *p;
	void **values; /* by tensor */
} oracle;

oracle oracle_new(arena *a, const plan *p);
void oracle_run(arena *a, oracle *o);

/* The whole of a tensor that the workers hold in its stored blocks; checks
 * that those who hold the same agree. */
void *machine_tensor(arena *a, const machine *m, int id);

#endif
