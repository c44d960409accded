/* The best plan over replicas, tensors, stages and micro-batches, by
 * enumeration.
 *
 * d replicas of p stages of t devices each, t innermost, then d, then p; u
 * samples are in a micro-batch of a replica, m = batch / (d u) micro-batches in
 * a step.  Stage s with the layers [i, j) takes
 *
 * 	time	u (3 or 4) flops / (t R)
 * 		+ (4 or 6) 2 (t - 1) / t u ar / bw(t)
 * 		+ 2 u (edge in + edge out) / bw(2 d t)
 * 	memory	weights, gradients and optimizer's states, / t
 * 		+ n(s) u kept + recomputed once
 *
 * and a step the sum of times, (m - 1) times the longest, and the longest
 * exchange of gradients, 2 (d - 1) / d params / t / bw(d t).  kept is the size
 * of the stage's input and act / t + rep; with recomputation the input alone,
 * and the others once.  bw(x) is the link among x devices that follow each
 * other. */
#ifndef TDL_COMPILER_PLACEMENT_CAPTURE_H
#define TDL_COMPILER_PLACEMENT_CAPTURE_H

#include "compiler/placement/layers.h"
#include "compiler/placement/schedule.h"
#include "compiler/placement/split.h"

typedef enum capture_objective {
	CAPTURE_TIME, /* step, then peak */
	CAPTURE_PEAK, /* peak, then step */
	CAPTURE_COST, /* step * devices, then peak; any number of devices */
} capture_objective;

typedef struct capture_request {
	capture_objective objective;
	pipeline_schedule schedule;
	int devices;
	double cap;	   /* bytes of a device; INFINITY */
	double optimizer;  /* bytes of optimizer's states per byte of weights,
			      beside the weights and their gradients */
	bool zero;	   /* optimizer's states are divided among replicas
			      (ZeRO-1) */
	bool plain, recompute; /* the variants to try */
	int micro_batches; /* 0: any */
} capture_request;

typedef struct capture_plan {
	int devices, replicas, tensor, stages;
	int micro_batch, micro_batches; /* samples of one; number of them */
	bool recompute;
	split split;		/* seconds, bytes */
	double *peak, *seconds; /* by stage */
} capture_plan;

typedef VEC(capture_plan) capture_plans;

/* An upper bound of the bytes of a device in any plan. */
double capture_most_bytes(const layer_table *t, const capture_request *r);

/* The best plan within the cap; false if there is none. */
bool capture_best(arena *a, const layer_table *t, const capture_request *r,
		  capture_plan *best);

/* The Pareto frontier of (peak, step) within the cap, least peak first. */
capture_plans capture_frontier(arena *a, const layer_table *t,
			       const capture_request *r);

#endif
