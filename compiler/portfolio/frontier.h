/* The plans that none is better than in both time and memory. */
#ifndef TDL_COMPILER_PORTFOLIO_FRONTIER_H
#define TDL_COMPILER_PORTFOLIO_FRONTIER_H

#include "compiler/portfolio/programs.h"

typedef struct frontier_point {
	const search_result *search;
	const plan_program *program;
	bool in_buckets; /* the program has its reductions in buckets */
} frontier_point;

typedef struct frontier {
	VEC(frontier_point) points; /* by rising time and falling memory */
	int nplans;		    /* that were compared */
	bool proven;		    /* nothing else is on the frontier .. */
	const char *among;	    /* .. of the plans "that .." */
	/* The plan that needs least memory: what to refuse where no plan keeps
	 * to the limit, and `points' is empty. */
	frontier_point least;
} frontier;

/* The Pareto-optimal plans in time and memory within how->memory.  False when
 * errors were added. */
bool plan_frontier(const plan_request *how, frontier *f);

/* The plan of points.at[i], as the planners' best is reported.  False when
 * errors were added. */
bool plan_frontier_plan(const plan_request *how, const frontier *f, int i,
			plan_result *r);

#endif
