/* The costs of many ways, measured by several threads at the same time.  The
 * layouts within a replica are searched once for all ways that differ in the
 * number of replicas alone. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_MEASURE_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_MEASURE_H

#include "compiler/portfolio/pipeline_refusals.h"
#include "compiler/portfolio/pipeline_sums.h"

/* The layouts within a replica. */
typedef struct replica_layouts {
	pipeline_way of; /* with one replica */
	const search_result *found; /* of pipeline_way_inside() */
} replica_layouts;

typedef struct pipeline_measurer {
	const plan_request *how; /* threads as of this; results in its arena */
	pipeline_sums *sums;	   /* to which the costs are added */
	pipeline_refusals *refused;
	VEC(replica_layouts) known;
} pipeline_measurer;

/* Adds the costs of n ways, in their order.  False when errors were added. */
bool pipeline_measure(pipeline_measurer *m, const pipeline_way *ways, int n);

#endif
