/* The best plan of a small graph, among all plans there are. */
#ifndef TDL_COMPILER_DRIVER_PLAN_BOUNDED_H
#define TDL_COMPILER_DRIVER_PLAN_BOUNDED_H

#include "compiler/driver/plan_make.h"

/* The name that such a plan is found by. */
#define PLAN_BOUNDED "bounded"

/* Whether nothing is better, and what a search for it looked at. */
typedef struct plan_proof {
	bool tried, proven;
	int nplans; /* that were lowered */
	double seconds; /* that it took */
} plan_proof;

/* Looks for something better than *best by how->objective, time or memory,
 * within the limit: a report with a plan, which gets the place of *best, if it
 * is found.  False when errors were added. */
bool plan_bounded(driver *d, const graph *g, const plan_search *how,
		  plan_report *best, plan_proof *proof);

#endif
