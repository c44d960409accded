/* The best plan of a small graph, among all plans there are. */
#ifndef TDL_COMPILER_DRIVER_PLAN_BOUNDED_H
#define TDL_COMPILER_DRIVER_PLAN_BOUNDED_H

#include "compiler/driver/plan_auto.h"

/* The name that such a plan is found by. */
#define PLAN_BOUNDED "bounded"

/* Whether nothing is better, and what a search for it looked at. */
typedef struct plan_proof {
	bool tried, proven;
	int nplans; /* that were lowered */
	double seconds; /* that it took */
} plan_proof;

/* Looks for something better than *best by how->objective, time or memory,
 * within the limit: a candidate with a program, which gets the place of *best,
 * if it is found.  Without `prove` it may do less, of which nothing follows.
 * *proof is added to, but for whether there is one.  False when errors were
 * added. */
bool plan_bounded(driver *d, const graph *g, const plan_search *how,
		  bool prove, plan_candidate *best, plan_proof *proof);

/* Looks for the fastest plans of a small graph and adds them to *all: without a
 * limit, then with less memory than the fastest needs, and so on until one is
 * within how->memory.  As long as each is proven to be the fastest, these are
 * all that there are on the frontier of time and memory; where that takes too
 * long, the fastest within each of some limits are looked for that rise up to
 * how->memory.  A search whose time is limited is for how->memory at once.
 * proof->proven says that the best of *all within the limit is the best of all
 * plans.  False when errors were added. */
bool plan_descend(driver *d, const graph *g, const plan_search *how,
		  plan_candidates *all, plan_proof *proof);

#endif
