/* The best plan of a small graph, among all plans there are. */
#ifndef TDL_COMPILER_PORTFOLIO_COMPLETE_SEARCH_H
#define TDL_COMPILER_PORTFOLIO_COMPLETE_SEARCH_H

#include "compiler/portfolio/candidates.h"

/* The name of the search in results, in place of a planner's. */
#define PLAN_BOUNDED "bounded"

/* The result of a search for better plans: whether one is excluded, and its
 * effort. */
typedef struct plan_proof {
	bool tried, proven;
	int nplans; /* that were lowered */
	double seconds; /* of the search */
} plan_proof;

/* The plans that a complete search looks at: "that run the operators in this
 * order and combine partial results at once".  Of time it says nothing of those
 * with buckets, which the best gets later. */
const char *plan_proof_among(const plan_request *how);

/* Searches for a plan better than *best by how->objective, time or memory,
 * within the limit.  *best is a candidate with a program; a better one replaces
 * it.  Without `prove` the search may be smaller, and proves nothing.  *proof
 * adds up the efforts of all calls, and says whether the last one was a proof.
 * False when errors were added. */
bool plan_bounded(const plan_request *how, bool prove, plan_candidate *best,
		  plan_proof *proof);

/* Searches for the fastest plans of a small graph and adds them to *all:
 * without a limit, then with less memory than the fastest needs, and so on
 * until one is within how->memory.  As long as each is proven to be the
 * fastest, they are the whole frontier of time and memory.  If that takes too
 * long, the fastest plans are searched within several limits that rise up to
 * how->memory.  A search whose time is limited is for how->memory at once.
 * proof->proven says that the best of *all within the limit is the best of all
 * plans.  False when errors were added. */
bool plan_descend(const plan_request *how, plan_candidates *all,
		  plan_proof *proof);

#endif
