/* The best plan of all planners within a memory limit.
 *
 * The candidates (candidates.h) and their programs (programs.h) do not depend
 * on the limit, except that searches among all plans of a small graph find more
 * candidates with more memory (complete_search.h).  The result is therefore at
 * least as good as that of each planner within the limit, and as that of any
 * smaller limit. */
#ifndef TDL_COMPILER_PORTFOLIO_AUTO_H
#define TDL_COMPILER_PORTFOLIO_AUTO_H

#include "compiler/lower/lower.h"
#include "compiler/portfolio/request.h"

/* Makes the best plan, lowered as `lower' says; *r as from plan_by_planner().
 * made[0..nmade) are earlier searches for the same graph and machine; elements
 * may be NULL.  Returns false after adding errors. */
bool plan_auto(const plan_request *how, const lower_options *lower,
	       const search_result *const *made, int nmade, plan_result *r);

#endif
