/* Chains: consecutive runs that are computed part by part, so that the tensors
 * passed between them are never whole in memory.
 *
 * Attention is a chain: a product of matrices gives the scores, several kernels
 * compute their softmax, and another product reads it.  A part consists of some
 * rows of some heads, from the first product to the last, and its scores stay
 * in the cache.  This is the method of FlashAttention, but a part has whole
 * rows, so every kernel computes the same bits as without the chain.
 *
 * The kernels decide what can be a chain: all of them run over common
 * variables, which also index the tensors passed on.  These variables are the
 * axes of the chain. */
#ifndef TDL_PLAN_CHAIN_H
#define TDL_PLAN_CHAIN_H

#include "plan/pipeline.h"

enum {
	MAX_CHAIN = 24, /* runs */
	MAX_CHAIN_AXES = 4,
	/* The least bytes that a chain passes on, on a worker.  Less stays in
	 * the cache anyway. */
	CHAIN_LEAST_BYTES = 1 << 20,
	/* The target size of a part: at most so many of these bytes, .. */
	CHAIN_PART_BYTES = 1 << 20,
	/* .. but at least so many rows along an axis that a factor of a product
	 * lacks, because that factor is packed again for each part. */
	CHAIN_LEAST_ROWS = 64,
};

typedef struct chain_axis {
	int vars[MAX_CHAIN]; /* by run; all have the same range */
	bool rows; /* some factor of a product lacks this axis */
} chain_axis;

typedef struct plan_chain {
	int n, instr[MAX_CHAIN]; /* the runs */
	int naxes; /* at least 1; ordered like the first run's variables */
	chain_axis axes[MAX_CHAIN_AXES];
	bool inner[MAX_CHAIN]; /* by run: its result is never whole in memory */
	/* By run and input: the run of the chain that computes the input, if it
	 * is inner; else -1. */
	int from[MAX_CHAIN][MAX_NINPUTS];
} plan_chain;

/* The end of the chain of instruction i: one past the last instruction that
 * follows i in the same chain and turn; i + 1 if i is in no chain. */
int plan_chain_end(const plan *p, int i);

/* By buffer, in a: whether only the chain that writes it uses it.  A buffer
 * among these that has no room in the arena is never whole. */
bool *plan_chain_buffers(arena *a, const plan *p);

/* Finds the chain that begins at instruction i of an unrolled plan.  Buffers
 * that have no room in the arena are inner.  Returns false if the runs cannot
 * be computed in parts. */
bool plan_chain_at(const plan *p, int i, const bool *unseen, plan_chain *c);

/* Whether each axis of a chain has the same range in all runs on a worker. */
bool plan_chain_fits(const plan *p, const plan_chain *c, int worker);

/* The lengths of a part along the axes.  `spaces' has each run's iteration
 * space on the worker, which has this many threads. */
void plan_chain_parts(const plan *p, const plan_chain *c, const box *spaces,
		      int threads, int64_t length[MAX_CHAIN_AXES]);

/* The same for runs that need not follow each other yet: c->n and c->instr are
 * set, and no result is inner. */
bool plan_chain_find(const plan *p, plan_chain *c);

/* The greatest size in bytes of the result of run r in a part of these lengths;
 * `space' is the run's iteration space on a worker. 0 if the result is not
 * inner. */
int64_t plan_chain_link_bytes(const plan *p, const plan_chain *c, int r,
			      const box *space, const int64_t *length);

/* The greatest size in bytes of all inner results in a part of these
 * lengths. */
int64_t plan_chain_bytes(const plan *p, const plan_chain *c, const box *spaces,
			 const int64_t *length);

/* Finds the chains of a complete plan that is not a stage, reorders the program
 * so that their runs follow each other, and places the remaining buffers.  New
 * tables are in a. */
void plan_make_chains(arena *a, plan *p);

/* The plan without chains: every buffer has room again.  Returns p itself if it
 * has no chains. */
const plan *plan_without_chains(arena *a, const plan *p);
const plan_pipeline *pipeline_without_chains(arena *a, const plan_pipeline *p);

/* Bytes that the inner tensors of the chain at instruction `begin' would take
 * if they were whole, on the worker where they are the most. */
int64_t plan_chain_saved(const plan *p, int begin);

#endif
