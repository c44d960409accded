/* The best plan over replicas, tensors, stages and micro-batches, by
 * enumeration.
 *
 * An even plan has d replicas of p stages of t devices each, t innermost, then
 * d, then p; micro-batches of U = d u samples, m = batch / U of them in a step,
 * and all stages or none compute their activations again.  In an uneven plan
 * each stage has its own d, t and recomputation, where d divides U, on as many
 * devices as there are, or fewer.  stage_cost.h has the costs of a stage; a
 * step takes the sum of the stages' times, (m - 1) times the longest, and the
 * longest exchange. */
#ifndef TDL_COMPILER_PLACEMENT_CAPTURE_H
#define TDL_COMPILER_PLACEMENT_CAPTURE_H

#include "base/vec.h"
#include "compiler/placement/layers.h"
#include "compiler/cost/schedule.h"
#include "compiler/placement/stage_cost.h"

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
	bool uneven;	       /* try uneven plans, too */
	int micro_batches; /* 0: any */
} capture_request;

typedef struct capture_stage {
	int nlayers;
	stage_way way;
	double peak, seconds;
} capture_stage;

typedef struct capture_plan {
	int devices, nstages;
	int samples, micro_batches; /* of one, of all replicas; number of
				       them */
	capture_stage *at; /* by stage */
	double peak, bottleneck, step;
	bool proven; /* no plan of those that were tried is better */
} capture_plan;

typedef VEC(capture_plan) capture_plans;

/* An upper bound of the bytes of a device in any plan. */
double capture_most_bytes(const layer_table *t, const capture_request *r);

/* Whether uneven plans are few enough to be tried. */
bool capture_fits(const layer_table *t, const capture_request *r);

/* The best plan within the cap; false if there is none. */
bool capture_best(arena *a, const layer_table *t, const capture_request *r,
		  capture_plan *best);

/* The Pareto frontier of (peak, step) within the cap, least peak first. */
capture_plans capture_frontier(arena *a, const layer_table *t,
			       const capture_request *r);

#endif
