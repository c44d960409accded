/* Whole operators on devices, as the stages of a pipeline that does the whole
 * batch at once. */
#ifndef TDL_COMPILER_PLACEMENT_DEVICE_STAGES_H
#define TDL_COMPILER_PLACEMENT_DEVICE_STAGES_H

#include "compiler/lower/stage_division.h"
#include "compiler/placement/judge.h"

typedef struct device_stages {
	/* A graph with one turn, after which everything is; its nodes are in
	 * the order in which they begin.  If each stage keeps to this order, no
	 * cycle of waits can arise. */
	const graph *g;
	stage_division division; /* a stage for each device that has a node */
	const int *device;	 /* by stage */
} device_stages;

/* The stages of a placement of a graph's operators, in a. costs is
 * cost_graph_of_model() of the graph, v the judge's verdict on the
 * placement. */
device_stages device_stages_of(arena *a, const graph *g,
			       const cost_graph *costs, const int *place,
			       const verdict *v);

#endif
