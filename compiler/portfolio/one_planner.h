/* The plan of one planner, and its best program. */
#ifndef TDL_COMPILER_PORTFOLIO_ONE_PLANNER_H
#define TDL_COMPILER_PORTFOLIO_ONE_PLANNER_H

#include "compiler/lower/lower.h"
#include "compiler/portfolio/programs.h"

/* Whether the bytes that k devices move can be counted; adds an error to the
 * sink if not. */
bool plan_is_countable(diag_sink *sink, const graph *g, int64_t k);

/* Makes the request *q to the planners for how->algorithm.  Returns false after
 * adding errors. */
bool plan_search_request(const plan_request *how, search_request *q);

/* Plans along the levels of the machine with the planner how->algorithm, and
 * makes the best program of the plan (program_best()) as `lower' says.  Fills
 * in *r; if the search has an error, *r has `search' but no plan.  Returns
 * false after adding errors. */
bool plan_by_planner(const plan_request *how, const lower_options *lower,
		     plan_result *r);

/* A search as auto reports it: under that name, with this note. */
search_result *search_credited(arena *a, const search_result *of,
			       const char *note);

/* The same for the result of an earlier search, and one of its programs. */
bool plan_lowered(const plan_request *how, const search_result *s,
		  const lower_options *lower, const plan_program *program,
		  plan_result *r);

#endif
