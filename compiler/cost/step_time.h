/* A step of the search as a problem of time and memory instead of bytes.
 *
 * A transfer on an axis takes a latency plus its share of the bytes over the
 * bandwidth of the axis' level.  A node takes as long as one worker's part of
 * it, assuming that the remaining axes divide it evenly.  Each byte that a
 * worker holds has a price in seconds.  Costs are picoseconds.  Used by
 * planners that minimise time axis by axis (`extended'). */
#ifndef TDL_COMPILER_COST_STEP_TIME_H
#define TDL_COMPILER_COST_STEP_TIME_H

#include "compiler/cost/formulate.h"
#include "compiler/cost/topology.h"

typedef struct step_time {
	const graph *graph;
	const topology *topology;
	mesh mesh;		/* all axes */
	int levels[MAX_AXES];	/* of the topology */
	/* by tensor: seconds per byte that a worker holds; NULL: 0 */
	const double *price;
} step_time;

/* For a graph on a mesh of a topology, in a, with no prices. */
step_time *step_time_new(arena *a, const graph *g, const mesh *m,
			 const topology *t);

/* The problem of a formulation with these costs in place of bytes, in a. */
problem *step_time_problem(arena *a, const step_time *o, const formulation *f);

#endif
