/* Chains: runs that follow one another and are computed part by part, so that
 * what one hands to the next is never in memory whole.
 *
 * Attention is such a chain: the scores are a product of matrices, their
 * softmax is several kernels, and another product reads it.  Each part is some
 * rows of some heads, from the first product to the last; scores of a part stay
 * in the cache (the method of FlashAttention; but a part has whole rows, so
 * that every kernel computes what it computes anyhow, bit for bit).
 *
 * What a chain may be follows from the kernels: all of them run over variables
 * that are the same, by which what is handed on is read.  Those are the axes of
 * the chain. */
#ifndef TDL_PLAN_CHAIN_H
#define TDL_PLAN_CHAIN_H

#include "plan/pipeline.h"

enum {
	MAX_CHAIN = 24, /* runs */
	MAX_CHAIN_AXES = 4,
	/* A chain hands on at least so much on a worker; less stays in the
	 * cache by itself. */
	CHAIN_LEAST_BYTES = 1 << 20,
	/* A part is meant to have at most this of it, .. */
	CHAIN_PART_BYTES = 1 << 20,
	/* .. but products pack a factor for each part along an axis that it
	 * does not have, for which a part has so many rows. */
	CHAIN_LEAST_ROWS = 64,
};

typedef struct chain_axis {
	int vars[MAX_CHAIN]; /* by run; all of one range */
	bool rows; /* a factor of a product does not have it */
} chain_axis;

typedef struct plan_chain {
	int n, instr[MAX_CHAIN]; /* the runs */
	int naxes; /* at least 1, in the order of the first run's variables */
	chain_axis axes[MAX_CHAIN_AXES];
	bool inner[MAX_CHAIN]; /* by run: its result is never whole */
	/* By run and input: the run of the chain of which it is the result, and
	 * inner; -1. */
	int from[MAX_CHAIN][MAX_NINPUTS];
} plan_chain;

/* The end of the chain of instruction i: behind the last of those that follow i
 * and are in its chain, in its turn; i + 1 where it is in none. */
int plan_chain_end(const plan *p, int i);

/* Buffers of which instructions outside of the chain of their writer know
 * nothing, by buffer, in a.  Those of them that have no room in the arena are
 * never whole. */
bool *plan_chain_buffers(arena *a, const plan *p);

/* The chain that begins at instruction i of an unrolled plan; what is
 * inner follows from the buffers that have no room.  False if the runs cannot
 * be computed in parts. */
bool plan_chain_at(const plan *p, int i, const bool *unseen, plan_chain *c);

/* Whether the axes of a chain have one range on a worker. */
bool plan_chain_fits(const plan *p, const plan_chain *c, int worker);

/* The lengths of a part along the axes, for the spaces of the runs on a worker
 * that has so many threads. */
void plan_chain_parts(const plan *p, const plan_chain *c, const box *spaces,
		      int threads, int64_t length[MAX_CHAIN_AXES]);

/* The same of runs that need not follow each other yet: c->n and c->instr are
 * set, and nothing is inner. */
bool plan_chain_find(const plan *p, plan_chain *c);

/* Bytes of the result of run r, whose space on a worker is `space', in a part
 * of these lengths, the greatest; 0 if it is not inner. */
int64_t plan_chain_link_bytes(const plan *p, const plan_chain *c, int r,
			      const box *space, const int64_t *length);

/* Bytes of what is inner in a part of these lengths, the greatest. */
int64_t plan_chain_bytes(const plan *p, const plan_chain *c, const box *spaces,
			 const int64_t *length);

/* Finds the chains of a plan that is whole, but of no pipeline, has their runs
 * follow each other, and gives places to the buffers that are left.  In a. */
void plan_make_chains(arena *a, plan *p);

/* The plan without chains: every buffer has its room again.  p itself if there
 * are none. */
const plan *plan_without_chains(arena *a, const plan *p);
const plan_pipeline *pipeline_without_chains(arena *a, const plan_pipeline *p);

/* Bytes that the tensors of a chain that are never whole would have on a
 * worker, the most of all. */
int64_t plan_chain_saved(const plan *p, int begin);

#endif
