/* PipeDream's planner (Harlap et al. 2018; Narayanan et al., SOSP 2019), as
 * published in its program: stages of a profile with replicas, of least time
 * per minibatch by its own model.  A stage of m replicas takes
 *
 *	(compute + 4 (m - 1) / m parameters / bandwidth) / m
 *
 * and transfers between stages take nothing.  All devices are used.  A split is
 * a chain of ideals; if there are more than the limit, the prefixes of one
 * order are cut.  Layers at either end that cost nothing (inputs) stay with
 * their neighbours: they do not form stages. */
#ifndef TDL_COMPILER_PLACEMENT_PIPEDREAM_H
#define TDL_COMPILER_PLACEMENT_PIPEDREAM_H

#include "compiler/placement/stages.h"

/* Ideals, or else layers, times devices.  The planner's work grows with the
 * square of both. */
enum { PIPEDREAM_MAX_STATES = 1 << 18 };

typedef struct pipedream_stage {
	int n, *layers; /* of the chain, ascending */
	int replicas;
	double predicted; /* seconds per minibatch, by the model above */
	/* By the model of stages.h, with replicas: n in flight is ceil(replicas
	 * from here on / replicas), at most M. */
	int in_flight;
	double nbytes;	/* per replica */
	double seconds; /* per minibatch on one replica */
	double exchange; /* of gradients, once per step */
} pipedream_stage;

typedef struct pipedream_plan {
	int nstages;
	pipedream_stage *stages;
	double predicted; /* seconds per minibatch: of the longest stage */
	double peak;	  /* bytes of a device */
	/* seconds: the longest stage's divided by its replicas */
	double bottleneck;
	double step;	  /* sum of seconds + (M - 1) bottleneck + longest
			     exchange */
	bool fixed_order;
	int nideals;
} pipedream_plan;

/* The best plan, in a, for 1 <= ndevices, with layers and devices within the
 * limit; m has bandwidth, factor and micro-batches. */
void pipedream_best(arena *a, const layer_chain *l, const stage_model *m,
		    int ndevices, pipedream_plan *best);

#endif
