/* The best plan of a small graph among all possible plans. */
#ifndef TDL_COMPILER_PORTFOLIO_COMPLETE_SEARCH_H
#define TDL_COMPILER_PORTFOLIO_COMPLETE_SEARCH_H

#include "compiler/portfolio/candidates.h"

/* The name of this search in results, in place of a planner's. */
#define PLAN_BOUNDED "bounded"

/* The outcome of searches for better plans: whether a better one is excluded,
 * and the effort. */
typedef struct plan_proof {
	bool tried, proven;
	int nplans; /* number of plans lowered */
	double seconds; /* of the search */
} plan_proof;

/* Describes the plans that a complete search considers: "that run the operators
 * in this order and combine partial results at once".  Regarding time, buckets
 * are not considered; the best plan gets them later. */
const char *plan_proof_among(const plan_request *how);

/* Searches for a plan better than *best by how->objective, time or memory,
 * within the limit. *best is a candidate with a program; a better one replaces
 * it.  Without `prove' the search may be smaller, and proves nothing. *proof
 * adds up the efforts of all calls, and says whether the last one was a proof.
 * Returns false after adding errors. */
bool plan_bounded(const plan_request *how, bool prove, plan_candidate *best,
		  plan_proof *proof);

/* Searches for the fastest plans of a small graph and adds them to *all:
 * without a limit, then with less memory than the fastest needs, and so on
 * until one is within how->memory.  As long as each is proven to be the
 * fastest, they are the whole frontier of time and memory.  If that takes too
 * long, it searches for the fastest plans within several limits that increase
 * up to how->memory.  A search with a time limit is for how->memory at once.
 * proof->proven says that the best of *all within the limit is the best of all
 * plans.  Returns false after adding errors. */
bool plan_descend(const plan_request *how, plan_candidates *all,
		  plan_proof *proof);

#endif
