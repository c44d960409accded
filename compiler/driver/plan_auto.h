/* The best plan of all planners, within a limit of memory. */
#ifndef TDL_COMPILER_DRIVER_PLAN_AUTO_H
#define TDL_COMPILER_DRIVER_PLAN_AUTO_H

#include "compiler/driver/plan_make.h"

/* Plans with every planner that needs no other program, and by the extended
 * search for rising prices of a byte in use: no price, and if there is a limit
 * of memory that this plan passes, or `wide` is set, prices up to where it
 * changes no more; then between the last that passes the limit and the first
 * that does not.  Adds what was found to *all, which may have reports of the
 * same graph and machine already; what these planners found is not searched for
 * again.  False when errors were added. */
bool plan_gather(driver *d, const graph *g, const plan_search *how, bool wide,
		 plan_reports *all);

/* Of the reports that have a plan the best by the objective, among those within
 * the limit; of the ones that are as good the one that takes less time, moves,
 * or holds less, and of these the first.  Where none is within the limit, the
 * one that uses the least memory.  NULL if none has a plan. */
const plan_report *plan_best(const plan_reports *all, const plan_search *how);

/* plan_make() for PLAN_AUTO: the best, lowered as `lower` says.  made may have
 * reports of the same graph and machine, and may be NULL. */
bool plan_auto(driver *d, const graph *g, const plan_search *how,
	       const lower_options *lower, const plan_reports *made,
	       plan_report *r);

/* The reports within a limit, 0 for none, that no other is better than in both,
 * by rising time and falling memory. */
plan_reports plan_frontier(arena *a, const plan_reports *all, int64_t limit);

/* plan_gather() and what is on the frontier within the limit, as a table or as
 * JSON; what plan_say_enough() says where nothing is. */
cli_status plan_print_frontier(driver *d, const graph *g,
			       const plan_search *how, bool json);

/* Says on standard error what would do for a plan that passes the limit. */
void plan_say_enough(driver *d, const graph *g, const plan_search *how,
		     const plan_report *r);

#endif
