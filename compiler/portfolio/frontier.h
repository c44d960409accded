/* The plans for which no other plan is better in both time and memory. */
#ifndef TDL_COMPILER_PORTFOLIO_FRONTIER_H
#define TDL_COMPILER_PORTFOLIO_FRONTIER_H

#include "compiler/portfolio/programs.h"

typedef struct frontier_point {
	const search_result *search;
	const plan_program *program;
	bool in_buckets; /* the program has its reductions in buckets */
} frontier_point;

typedef struct frontier {
	/* by increasing time and decreasing memory */
	VEC(frontier_point) points;
	int nplans;		    /* plans compared */
	bool proven;		    /* nothing else is on the frontier .. */
	const char *among;	    /* .. of the plans "that .." */
	/* The plan with the least memory; to be reported if no plan is within
	 * the limit and `points' is empty. */
	frontier_point least;
} frontier;

/* Finds the Pareto-optimal plans in time and memory within how->memory.
 * Returns false after adding errors. */
bool plan_frontier(const plan_request *how, frontier *f);

/* The plan of points.at[i], reported like the planners' best.  Returns false
 * after adding errors. */
bool plan_frontier_plan(const plan_request *how, const frontier *f, int i,
			plan_result *r);

#endif
