/* The best plan of all planners, within a limit of memory.
 *
 * Which plans are looked at does not depend on the limit, but for those of
 * searches among all plans of a small graph, of which more are made with more
 * memory (plan_bounded.h); neither do their programs (plan_programs.h).  So
 * what is found is at least as good as what each planner finds with the limit,
 * and as what is found with a smaller one. */
#ifndef TDL_COMPILER_DRIVER_PLAN_AUTO_H
#define TDL_COMPILER_DRIVER_PLAN_AUTO_H

#include "compiler/driver/plan_make.h"

/* A plan, and the best of its programs so far. */
typedef struct plan_candidate {
	const search_result *search; /* without an error */
	plan_programs programs;	     /* that were made */
	plan_program program;	     /* of plan_best() */
} plan_candidate;

typedef VEC(plan_candidate) plan_candidates;

/* Plans with every planner that needs no other program, and if `sweep` is set
 * with those that are priced for many prices of memory (plan_sweep.h).  Adds
 * what was found to *all, which may have candidates of the same graph and
 * machine already; what these planners found is not searched for again.  False
 * when errors were added. */
bool plan_gather(driver *d, const graph *g, const plan_search *how, bool sweep,
		 plan_candidates *all);

/* Finds the candidate with the best program by the objective, among those
 * within the limit; of ones that are as good the one that takes less time,
 * moves, or holds less, and of these the first.  Where none is within the limit
 * it is the one that uses the least memory.  *best is NULL if there is none.
 * False when errors were added. */
bool plan_best(driver *d, const graph *g, const plan_search *how,
	       plan_candidates *all, plan_candidate **best);

/* What auto does where nothing says otherwise: copies may take the memory that
 * the machine has. */
plan_search plan_roomy(const plan_search *how);

/* plan_make() for PLAN_AUTO: the best, lowered as `lower` says.  made[0..nmade)
 * are searches for the same graph and machine, and may be NULL. */
bool plan_auto(driver *d, const graph *g, const plan_search *how,
	       const lower_options *lower, const search_result *const *made,
	       int nmade, plan_report *r);

/* What is on the frontier of time and memory within the limit, as a table or as
 * JSON; what plan_say_enough() says where nothing is. */
cli_status plan_print_frontier(driver *d, const graph *g,
			       const plan_search *how, bool json);

/* Says on standard error what would do for a plan that passes the limit, but
 * not one of so many bytes. */
void plan_say_enough(driver *d, const graph *g, const plan_search *how,
		     int64_t nbytes);

#endif
