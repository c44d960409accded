/* Plans of several stages: their options, the search, and the result as JSON
 * and as text. */
#ifndef TDL_LIBTDL_PLAN_STAGES_H
#define TDL_LIBTDL_PLAN_STAGES_H

#include "base/json.h"
#include "libtdl/plan_search.h"

/* Reads --stages and the options that go with it; if they do not go together,
 * false after a message. */
bool plan_stages_agree(job *d, plan_options *o);

/* plan_search() with --stages.  Of any number of stages, the best plan without
 * is the result where one stage is the best, or there is one micro-batch: then
 * r->pipeline is NULL. */
cli_status plan_stages_search(job *d, const plan_request *how,
			      const plan_options *o,
			      const lower_options *lower, plan_result *r,
			      bool *made);

/* A plan of several stages of a large graph, for plan_stages_beside(), within
 * the memory: the search without stages, which is longer, then leaves out what
 * cannot be faster.  *found stays NULL where there is none, or none is to be
 * looked for.  False when errors were added. */
bool plan_stages_ahead(job *d, const plan_request *how, const plan_options *o,
		       const struct pipeline_result **found);

/* Beside what auto has found without stages, where micro-batches are asked for
 * and plans compared by time: a plan of several stages that is faster, or that
 * has memory where *r has not, takes its place; known: of plan_stages_ahead().
 * False when errors were added. */
bool plan_stages_beside(job *d, const plan_request *how, const plan_options *o,
			const struct pipeline_result *known, plan_result *r);

json_t *plan_stages_json(const plan_result *r);
void plan_stages_text(FILE *to, arena *a, const plan_result *r);

#endif
