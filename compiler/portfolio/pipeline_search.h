/* The search for a pipeline: stages, devices, replicas, layouts, schedule.
 *
 * The exact program (pipeline_program.h) divides layers and devices by the
 * costs of layers (pipeline_costs.h).  The best splits are planned as they are,
 * and judged by the simulation of their programs.  Where a split does not fit
 * in memory when it is planned, it is searched again with less. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_SEARCH_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_SEARCH_H

#include "compiler/portfolio/pipeline_plan.h"

typedef struct pipeline_aims {
	int nstages, replicas; /* 0: any */
	bool several;	       /* of any number of stages two at least */
	bool any_schedule;
	pipeline_schedule kind; /* else this, .. */
	int chunks;		/* .. with as many in each stage */
	const char *inside; /* a planner; NULL: the best of some */
	double beat; /* seconds: only pipelines that may take less, and fit, are
			of use; 0: any */
	bool recompute; /* forward passes, in all stages */
} pipeline_aims;

/* The fastest pipeline of those that are tried, of the graph in turns of how,
 * within how->memory; the one that needs least memory if none is.  Refused if
 * there is none.  False when errors were added. */
bool pipeline_search(const plan_request *how, const pipeline_aims *aims,
		     pipeline_result *best);

#endif
