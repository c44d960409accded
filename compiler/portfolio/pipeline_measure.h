/* Measures the costs of many ways in several threads.  The layouts within a
 * replica are searched once for all ways that differ only in the number of
 * replicas. */
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
	/* uses its number of threads; results are in its arena */
	const plan_request *how;
	pipeline_sums *sums;	   /* receives the costs */
	pipeline_refusals *refused;
	VEC(replica_layouts) known;
} pipeline_measurer;

/* Measures n ways and adds their costs in order.  Returns false after adding
 * errors. */
bool pipeline_measure(pipeline_measurer *m, const pipeline_way *ways, int n);

#endif
