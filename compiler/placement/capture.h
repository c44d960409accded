/* The best plan over replicas, tensors, stages and micro-batches, by
 * enumeration.
 *
 * An even plan has d replicas of p stages of t devices each, with t innermost,
 * then d, then p; a step has m = batch / U micro-batches of U = d u samples;
 * either all stages recompute their activations, or none.  In an uneven plan
 * each stage has its own d, t and recomputation, where d divides U, and the
 * stages use all devices or fewer. stage_cost.h has the costs of a stage.  A
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
	double cap;	   /* bytes per device; INFINITY: no cap */
	/* bytes of the optimizer's states per byte of weights, in addition to
	 * weights and gradients */
	double optimizer;
	bool zero;	   /* optimizer's states are divided among replicas
			      (ZeRO-1) */
	bool plain, recompute; /* the variants to try */
	bool uneven;	       /* try uneven plans as well */
	int micro_batches; /* 0: any */
} capture_request;

typedef struct capture_stage {
	int nlayers;
	stage_way way;
	double peak, seconds;
} capture_stage;

typedef struct capture_plan {
	int devices, nstages;
	/* per micro-batch, all replicas together; their number */
	int samples, micro_batches;
	capture_stage *at; /* by stage */
	double peak, bottleneck, step;
	bool proven; /* no other plan that was considered is better */
} capture_plan;

typedef VEC(capture_plan) capture_plans;

/* An upper bound of the bytes per device in any plan. */
double capture_most_bytes(const layer_table *t, const capture_request *r);

/* Whether there are few enough uneven plans to try them. */
bool capture_fits(const layer_table *t, const capture_request *r);

/* Finds the best plan within the cap, in a; false if there is none. */
bool capture_best(arena *a, const layer_table *t, const capture_request *r,
		  capture_plan *best);

/* The Pareto frontier of (peak, step) within the cap, least peak first. */
capture_plans capture_frontier(arena *a, const layer_table *t,
			       const capture_request *r);

#endif
