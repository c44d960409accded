/* The search for a pipeline: stages, devices, replicas, layouts, schedule.
 *
 * The exact program (pipeline_program.h) divides layers and devices by the
 * costs of layers (pipeline_costs.h).  The best splits are planned, and judged
 * by the simulation of their programs.  If a split turns out not to fit in
 * memory when planned, the search is repeated with less memory. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_SEARCH_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_SEARCH_H

#include "compiler/portfolio/pipeline_plan.h"

typedef struct pipeline_aims {
	int nstages, replicas; /* 0: any */
	bool several;	       /* at least two stages, if nstages is 0 */
	bool any_schedule;
	pipeline_schedule kind; /* else this, .. */
	int chunks;		/* .. with as many in each stage */
	const char *inside; /* a planner; NULL: the best of several */
	/* seconds: only pipelines that may take less, and fit, are wanted; 0:
	 * any */
	double beat;
	bool recompute; /* forward passes, in all stages */
} pipeline_aims;

/* Finds the fastest of the pipelines tried for how's graph, which is in turns,
 * within how->memory; the one with the least memory if none fits.  It is
 * refused if there is none.  Returns false after adding errors. */
bool pipeline_search(const plan_request *how, const pipeline_aims *aims,
		     pipeline_result *best);

#endif
