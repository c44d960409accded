/* Costs of the choices of a plan in its program: seconds on a machine, bytes in
 * the arena.  Used by `levels' and by the best-first search of best_first.c.
 *
 * A program fetches the inputs of a node, runs it, and brings the result to
 * where it is stored.  The cost of each of these follows from the ways of the
 * node and of one tensor, so that a program that keeps no copy takes exactly
 * the sum of these costs, one instruction after the other. */
#ifndef TDL_COMPILER_COST_TIME_MODEL_H
#define TDL_COMPILER_COST_TIME_MODEL_H

#include "compiler/cost/candidates.h"
#include "compiler/cost/topology.h"

/* A node, and a tensor that it reads or computes. */
typedef struct timed_cost {
	double seconds; /* of the transfers between them, .. */
	double remote;	/* .. of those that receive from other workers, .. */
	double wire;	/* .. and a lower bound for any copy that serves in its
			   place; 0 unless bounds are wanted */
	int64_t copy;	/* bytes fetched, or computed elsewhere than where they
			   are stored; 0: none */
	int64_t share;	/* of a partial result, those of the worker's share, if
			   that is not where it is stored */
} timed_cost;

typedef struct timed_pair {
	node_id node;
	tensor_id tensor;
	uint32_t inputs;	/* the inputs that are the tensor; 0: it is the
				   result */
	const timed_cost *cost; /* [ways of the node][ways of the tensor] */
} timed_pair;

typedef struct timed {
	mesh mesh;
	const graph *graph;
	const ways_set *ways;
	const double **run;	/* by node: seconds, each way */
	const double **work;	/* the same of its arithmetic alone, if
				   bounds are wanted */
	const int64_t **stored; /* by tensor: bytes of a worker's block, each
				   way */
	int *first;		/* of a node's pairs; nnodes + 1 */
	VEC(timed_pair) pairs;
	int64_t pad; /* the most by which a size was rounded up */
} timed;

/* Tables that were made already, of ways of one pool. */
typedef struct timed_cache timed_cache;

/* For a mesh of a machine, in a. */
timed_cache *timed_cache_new(arena *a, const mesh *m, const topology *t,
			     bool bounds);

/* Of a graph, in a; the ways and the cache have to outlive it.  Bytes are
 * rounded up as places in an arena are.  Of more than 8 workers 4 are looked
 * at. */
timed *timed_new(arena *a, timed_cache *c, const graph *g, const ways_set *w);

/* Number of entries of all its tables; each takes microseconds to compute. */
int64_t timed_cells(const graph *g, const ways_set *w);

/* Prices in seconds per byte that a worker holds: of tensors where they are
 * stored, and of copies and partial results while a node runs.  Either may be
 * NULL, for nothing. */
typedef struct timed_prices {
	const double *tensors, *nodes;
} timed_prices;

/* The problem of the least seconds and prices together, in picoseconds, in a;
 * variables and values are those of whole_problem(). */
problem *timed_problem(arena *a, const timed *x, const timed_prices *p);

#endif
