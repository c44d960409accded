/* The plans for which no other plan is better in both time and memory. */
#ifndef TDL_LIBTDL_PLAN_FRONTIER_H
#define TDL_LIBTDL_PLAN_FRONTIER_H

#include <stdio.h>

#include "base/json.h"
#include "compiler/portfolio/frontier.h"
#include "libtdl/job.h"

/* Finds these plans.  Returns CLI_OK with *made set, unless errors were added;
 * CLI_NO_PLAN, after a message, if no plan is within how->memory. */
cli_status plan_frontier_of(job *d, const plan_request *how, frontier *f,
			    bool *made);

/* The same, and the n-th plan, 1 being the fastest.  Returns CLI_USAGE, after a
 * message, if there are fewer. */
cli_status plan_of_frontier(job *d, const plan_request *how, int64_t n,
			    frontier *f, plan_result *r, bool *made);

/* The output of `tdlc plan --frontier --json'. */
json_t *plan_frontier_json(const plan_request *how, const frontier *f);
/* The same without --json. */
void plan_frontier_text(FILE *to, const plan_request *how, const frontier *f);

#endif
