/* The plan of one planner, and its best program. */
#ifndef TDL_COMPILER_PORTFOLIO_ONE_PLANNER_H
#define TDL_COMPILER_PORTFOLIO_ONE_PLANNER_H

#include "compiler/lower/lower.h"
#include "compiler/portfolio/programs.h"

/* Whether the bytes that k devices move can be counted; if not, with an error
 * in the sink. */
bool plan_is_countable(diag_sink *sink, const graph *g, int64_t k);

/* The request *q that how->algorithm makes of the planners.  False when errors
 * were added. */
bool plan_search_request(const plan_request *how, search_request *q);

/* Plans along the levels of the machine with the planner how->algorithm, and
 * makes the best program of the plan (program_best()) as `lower` says.  *r is
 * filled in; if the search has an error there is no plan, only `search`.  False
 * when errors were added. */
bool plan_by_planner(const plan_request *how, const lower_options *lower,
		     plan_result *r);

/* A search as auto reports it: by that name, with this note. */
search_result *search_credited(arena *a, const search_result *of,
			       const char *note);

/* The same for the result of a former search, as one of its programs. */
bool plan_lowered(const plan_request *how, const search_result *s,
		  const lower_options *lower, const plan_program *program,
		  plan_result *r);

#endif
