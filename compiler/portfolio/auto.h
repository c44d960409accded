/* The best plan of all planners, within a limit of memory.
 *
 * The candidates and their programs (plan_programs.h) do not depend on the
 * limit, except that searches among all plans of a small graph make more
 * candidates with more memory (plan_bounded.h).  So the result is at least as
 * good as that of each planner within the limit, and as that of any smaller
 * limit. */
#ifndef TDL_COMPILER_PORTFOLIO_AUTO_H
#define TDL_COMPILER_PORTFOLIO_AUTO_H

#include "compiler/portfolio/request.h"

/* A plan, and the best of its programs so far. */
typedef struct plan_candidate {
	const search_result *search; /* without an error */
	plan_programs programs;	     /* those that were made */
	plan_program program;	     /* of plan_best() */
} plan_candidate;

typedef VEC(plan_candidate) plan_candidates;

/* Plans with every planner that needs no external program and, if `sweep` is
 * set, with those that take prices for many prices of memory (plan_sweep.h).
 * Adds the plans to *all, which may have candidates of the same graph and
 * machine already; their planners do not run again.  False when errors were
 * added. */
bool plan_gather(driver *d, const graph *g, const plan_search *how, bool sweep,
		 plan_candidates *all);

/* Finds the candidate with the best program by the objective, among those
 * within the limit; of equally good ones the one that takes less time, moves
 * less, or holds less, and of these the first.  If none is within the limit, it
 * is the one that uses the least memory.  *best is NULL if there is none.
 * False when errors were added. */
bool plan_best(driver *d, const graph *g, const plan_search *how,
	       plan_candidates *all, plan_candidate **best);

/* The search of auto without a limit: copies may take the memory of the
 * machine. */
plan_search plan_roomy(const plan_search *how);

/* plan_make() for PLAN_AUTO: the best, lowered as `lower` says.  made[0..nmade)
 * are searches for the same graph and machine, and may be NULL. */
bool plan_auto(driver *d, const graph *g, const plan_search *how,
	       const lower_options *lower, const search_result *const *made,
	       int nmade, plan_report *r);

/* Prints the frontier of time and memory within the limit, as a table or as
 * JSON; if it is empty, the message of plan_say_enough(). */
cli_status plan_print_frontier(driver *d, const graph *g,
			       const plan_search *how, bool json);

/* Prints on standard error the options that allow a plan larger than the limit,
 * but suggests no plan of that many bytes. */
void plan_say_enough(driver *d, const graph *g, const plan_search *how,
		     int64_t nbytes);

#endif
