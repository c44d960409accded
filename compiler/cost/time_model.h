/* Costs of candidates in the program of a plan: seconds on a machine, bytes in
 * the arena.  Used by `levels' and by the best-first search of best_first.c.
 *
 * A program fetches the inputs of a node, runs it, and brings the result to
 * where it is stored.  The cost of each of these follows from the candidates of
 * the node and of one tensor, so that a program without kept copies takes
 * exactly the sum of these costs, one instruction after the other. */
#ifndef TDL_COMPILER_COST_TIME_MODEL_H
#define TDL_COMPILER_COST_TIME_MODEL_H

#include "compiler/cost/candidates.h"
#include "compiler/cost/topology.h"

/* The costs between a node and a tensor that it reads or computes. */
typedef struct time_model_cost {
	/* of the transfers between them, all runs of the node */
	double seconds;
	double remote;	/* of those transfers that receive from other workers */
	/* a lower bound of the seconds of any copy that can replace them; 0
	 * unless bounds are wanted */
	double least;
	/* bytes fetched, or computed elsewhere than where they are stored; 0:
	 * none */
	int64_t copy;
	/* bytes of the worker's shard of the combined result, if the result is
	 * partial but not stored partial */
	int64_t shard;
} time_model_cost;

typedef struct time_model_pair {
	node_id node;
	tensor_id tensor;
	uint32_t inputs;	/* the inputs that are the tensor; 0: it is the
				   result */
	const time_model_cost
		*cost; /* [of the node][of the tensor]: candidates */
} time_model_pair;

typedef struct time_model {
	mesh mesh;
	const graph *graph;
	const candidate_set *candidates;
	const double **run;	/* by node: seconds by candidate */
	const double **work;	/* the same of its arithmetic alone, if
				   bounds are wanted */
	const int64_t **stored; /* by tensor: bytes of a worker's block, by
				   candidate */
	int *first;		/* of a node's pairs; nnodes + 1 */
	VEC(time_model_pair) pairs;
	int64_t pad; /* the most by which a size was rounded up */
} time_model;

/* A cache of tables for candidates of one pool. */
typedef struct time_model_cache time_model_cache;

/* An empty cache for a mesh of a machine, in a. */
time_model_cache *time_model_cache_new(arena *a, const mesh *m,
				       const topology *t, bool bounds);

/* The model of a graph, in a; the candidates and the cache must outlive it.
 * Bytes are rounded up as in an arena.  Of more than 8 workers, only 4 are
 * examined. */
time_model *time_model_new(arena *a, time_model_cache *c, const graph *g,
			   const candidate_set *w);

/* The number of entries of all tables of a model; each takes microseconds to
 * compute. */
int64_t time_model_cells(const graph *g, const candidate_set *w);

/* Prices in seconds per byte that a worker holds: for stored tensors, and for
 * copies and partial results while a node runs.  NULL: 0. */
typedef struct memory_prices {
	const double *tensors, *nodes;
} memory_prices;

/* The strategy problem that minimises the sum of seconds and prices, in
 * picoseconds; in a.  Variables and values are those of joint_problem(). */
problem *time_model_problem(arena *a, const time_model *x,
			    const memory_prices *p);

#endif
