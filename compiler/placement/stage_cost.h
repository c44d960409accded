/* The cost of a stage of a layer table: layers [i, j) on d replicas of t
 * devices each.
 *
 * A micro-batch has U samples, u = U / d for each replica.  With R FLOP/s of a
 * device and bw(x), the link among x devices that follow each other, the stage
 * takes
 *
 * 	time	u (3 or 4) flops / (t R)
 * 		+ (4 or 6) 2 (t - 1) / t u ar / bw(t)
 * 		+ 2 u (edge in + edge out) / bw(2 d t)
 * 		+ 2 u (skips in + skips out) / bw(D)
 * 	memory	weights, gradients and optimizer's states, / t
 * 		+ n u kept + recomputed once + skips that wait
 * 	exchange 2 (d - 1) / d params / t / bw(d t)
 * 		+ tied / t / bw(D)
 *
 * once per step, where D are the devices of the plan and n the micro-batches in
 * flight.  kept is the size of the stage's input, skips in, and act / t + rep;
 * with recomputation the inputs alone, and the others once.  The second number
 * of FLOP and of all-reduces is that with recomputation.
 *
 * Tied parameters are there once in each stage that has one of their layers.
 * Their gradients are summed along these stages, forwards and backwards at the
 * same time, so a stage receives them once if it is the first or the last of
 * these, twice if it is between.
 *
 * A skip between stages goes from the one to the other directly, but no sooner
 * than its reader has room: the reader holds as many copies as it has
 * micro-batches in flight, and the others wait at the producer, beside what
 * that keeps for itself. */
#ifndef TDL_COMPILER_PLACEMENT_STAGE_COST_H
#define TDL_COMPILER_PLACEMENT_STAGE_COST_H

#include <stdbool.h>

#include "compiler/placement/layers.h"

/* Sums over the layers [i, j); bytes and FLOP of a sample. */
typedef struct layer_sums {
	double params, flops, act, rep, ar;
	double in, out;		  /* edges from and to the neighbours */
	double tied;		  /* bytes of gradients received of others */
	double skip_in, skip_out; /* from and to other stages */
} layer_sums;

typedef struct stage_costs {
	const layer_table *t;
	double optimizer; /* bytes of optimizer's states per byte of weights */
	bool zero;	  /* these are divided among replicas (ZeRO-1) */
	layer_sums *at;	  /* by interval_at() */
	/* Those of layer i are skips[first_skip[i] .. first_skip[i + 1]). */
	int *first_skip;
	layer_skip *skips;
} stage_costs;

/* The sums of all intervals, in a. */
stage_costs stage_costs_new(arena *a, const layer_table *t, double optimizer,
			    bool zero);

/* A way to compute a stage. */
typedef struct stage_way {
	int replicas, tensor;
	bool recompute;
} stage_way;

typedef struct stage_cost {
	double time;  /* seconds of a micro-batch */
	double fixed; /* bytes that are there once */
	double kept;  /* bytes of each micro-batch in flight */
	double sync;  /* seconds, once per step */
} stage_cost;

/* Without skips that wait.  x is interval_at(i, j); samples those of a
 * micro-batch, which the replicas divide; devices those of the plan. */
stage_cost stage_cost_of(const stage_costs *c, size_t x, const stage_way *w,
			 int samples, int devices);

#endif
