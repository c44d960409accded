/* What the choices of a plan cost in its program: seconds on a machine, bytes
 * in the arena.
 *
 * A program fetches what a node reads, runs it, and brings the result to where
 * it is stored.  What each of these takes follows from the ways of the node and
 * of one tensor, so that a program that keeps no copy takes exactly the sum of
 * what is here, one instruction after the other. */
#ifndef TDL_COMPILER_SEARCH_TIMED_H
#define TDL_COMPILER_SEARCH_TIMED_H

#include "compiler/search/ways.h"

/* A node, and a tensor that it reads or computes. */
typedef struct timed_cost {
	double seconds; /* of the transfers between them, .. */
	double remote;	/* .. of those that receive from other workers, .. */
	double wire;	/* .. and what any copy that would do for this one takes
			   at least; 0 unless bounds are wanted */
	int64_t copy;	/* bytes of what is fetched, or is computed elsewhere
			   than where it is stored; 0: nothing is */
	int64_t share;	/* of a partial result, those of the worker's share, if
			   that is not where it is stored */
} timed_cost;

typedef struct timed_pair {
	node_id node;
	tensor_id tensor;
	uint32_t inputs;	/* that are the tensor; 0: it is the result */
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

/* Entries of all tables that it would have, each of which takes microseconds to
 * find out. */
int64_t timed_cells(const graph *g, const ways_set *w);

/* What a byte costs, in seconds, that a worker holds of a tensor where it is
 * stored, and of copies and partial results while a node runs; either may be
 * NULL, for nothing. */
typedef struct timed_prices {
	const double *tensors, *nodes;
} timed_prices;

/* The problem of the least seconds and prices together, in picoseconds, in a;
 * variables and values are those of whole_problem(). */
problem *timed_problem(arena *a, const timed *x, const timed_prices *p);

#endif
