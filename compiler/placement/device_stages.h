/* Operators whole on devices, as the stages of a pipeline that does all of a
 * batch at once. */
#ifndef TDL_COMPILER_PLACEMENT_DEVICE_STAGES_H
#define TDL_COMPILER_PLACEMENT_DEVICE_STAGES_H

#include "compiler/lower/stage_division.h"
#include "compiler/placement/judge.h"

typedef struct device_stages {
	/* Of one turn, behind which everything is, the nodes in the order in
	 * which they begin: if each stage keeps to it none waits for one that
	 * waits for it. */
	const graph *g;
	stage_division division; /* a stage for each device that has a node */
	const int *device;	 /* by stage */
} device_stages;

/* The placement of a graph's operators, costs being cost_graph_of_model() of
 * it, that v judges; in a. */
device_stages device_stages_of(arena *a, const graph *g,
			       const cost_graph *costs, const int *place,
			       const verdict *v);

#endif
