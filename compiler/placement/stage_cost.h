/* The cost of a stage of a layer table: layers [i, j) on d replicas of t
 * devices each.
 *
 * A micro-batch has U samples, u = U / d for each replica.  R is FLOP/s of a
 * device, bw(x) the bandwidth of the link among x consecutive devices.  The
 * stage takes
 *
 *	time	u (3 or 4) flops / (t R)
 *		+ (4 or 6) 2 (t - 1) / t u ar / bw(t)
 *		+ 2 u (edge in + edge out) / bw(2 d t)
 *		+ 2 u (skips in + skips out) / bw(D)
 *	memory	weights, gradients and optimizer's states, / t
 *		+ n u kept + recomputed once + skips that wait
 *	exchange 2 (d - 1) / d params / t / bw(d t)
 *		+ tied / t / bw(D)
 *
 * The exchange happens once per step.  D is the number of devices of the plan,
 * n the micro-batches in flight. kept is the size of the stage's input, skips
 * in, and act / t + rep; with recomputation only the inputs, and the rest once.
 * The second factors of FLOP and all-reduces are those with recomputation.
 *
 * Tied parameters are present once in each stage that has one of their layers.
 * Their gradients are summed along these stages, forwards and backwards at the
 * same time, so that the first and the last of these stages receive them once,
 * the others twice.
 *
 * A skip goes directly from one stage to the other, but not before its reader
 * has room.  The reader holds as many copies as it has micro-batches in flight;
 * the others wait at the producer, in addition to what it keeps for itself. */
#ifndef TDL_COMPILER_PLACEMENT_STAGE_COST_H
#define TDL_COMPILER_PLACEMENT_STAGE_COST_H

#include <stdbool.h>

#include "compiler/placement/layers.h"

/* Sums over the layers [i, j); bytes and FLOP per sample. */
typedef struct layer_sums {
	double params, flops, act, rep, ar;
	double in, out;		  /* edges from and to the neighbours */
	/* bytes of gradients received from other stages */
	double tied;
	double skip_in, skip_out; /* from and to other stages */
} layer_sums;

typedef struct stage_costs {
	const layer_table *t;
	double optimizer; /* bytes of optimizer's states per byte of weights */
	bool zero;	  /* .. which replicas divide among them (ZeRO-1) */
	layer_sums *at;	  /* by interval_at() */
	/* The skips of layer i are skips[first_skip[i] .. first_skip[i +
	 * 1]). */
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
	double time;  /* seconds per micro-batch */
	double fixed; /* bytes present once */
	double kept;  /* bytes per micro-batch in flight */
	double sync;  /* seconds, once per step */
} stage_cost;

/* The cost without skips that wait. x is interval_at(i, j); samples: of a
 * micro-batch, divisible by the replicas; devices: of the plan. */
stage_cost stage_cost_of(const stage_costs *c, size_t x, const stage_way *w,
			 int samples, int devices);

#endif
