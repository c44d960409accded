/* PipeDream's planner (Harlap et al. 2018; Narayanan et al., SOSP 2019), as its
 * program has it: stages of a profile with replicas, of least time per
 * minibatch by its own model, in which a stage of m replicas takes
 *
 *	(compute + 4 (m - 1) / m parameters / bandwidth) / m
 *
 * and transfers between stages take nothing.  All devices are used.  A split is
 * a chain of ideals; with more of them than the limit the prefixes of one order
 * are cut.  Layers at either end that cost nothing (inputs) lie with their
 * neighbours: no stage is made of them. */
#ifndef TDL_COMPILER_PLACEMENT_PIPEDREAM_H
#define TDL_COMPILER_PLACEMENT_PIPEDREAM_H

#include "compiler/placement/stages.h"

/* Ideals, or else layers, times devices: what the planner looks at grows with
 * the square of both. */
enum { PIPEDREAM_MAX_STATES = 1 << 18 };

typedef struct pipedream_stage {
	int n, *layers; /* of the chain, ascending */
	int replicas;
	double predicted; /* seconds per minibatch, by the model above */
	/* By the model of stages.h, with replicas: n in flight is
	 * ceil(replicas from here on / replicas), M at most. */
	int in_flight;
	double nbytes;	/* of each replica */
	double seconds; /* of one minibatch on one replica */
	double exchange; /* of gradients, once a step */
} pipedream_stage;

typedef struct pipedream_plan {
	int nstages;
	pipedream_stage *stages;
	double predicted; /* seconds per minibatch: of the longest stage */
	double peak;	  /* bytes of a device */
	double bottleneck; /* seconds: the longest stage's over its replicas */
	double step;	  /* sum of seconds + (M - 1) bottleneck + longest
			     exchange */
	bool fixed_order;
	int nideals;
} pipedream_plan;

/* The plan for 1 <= ndevices, layers and devices within the limit; m says
 * bandwidth, factor and micro-batches. */
void pipedream_best(arena *a, const layer_chain *l, const stage_model *m,
		    int ndevices, pipedream_plan *best);

#endif
