/* Plans of several stages: their options, the search, and the result as JSON
 * and as text. */
#ifndef TDL_LIBTDL_PLAN_STAGES_H
#define TDL_LIBTDL_PLAN_STAGES_H

#include "base/json.h"
#include "libtdl/plan_search.h"

/* Reads --stages and related options; returns false after a message if they are
 * inconsistent. */
bool plan_stages_agree(job *d, plan_options *o);

/* plan_search() with --stages.  For any number of stages, the result is the
 * best plan without stages if one stage is best, or there is one micro-batch;
 * r->pipeline is NULL then. */
cli_status plan_stages_search(job *d, const plan_request *how,
			      const plan_options *o,
			      const lower_options *lower, plan_result *r,
			      bool *made);

/* Makes a pipeline of g, which has turns, as how asks: by pins, by a published
 * planner, or by the search.  Returns false after adding errors. */
bool plan_stages_make(const plan_request *how, const graph *g,
		      const pipeline_aims *aims, struct pipeline_result *r);

/* A search for stages before that for a plan without. */
typedef struct stages_ahead {
	bool searched;
	/* The plan, if one was found within the memory; NULL. */
	const struct pipeline_result *found;
	/* otherwise the one that needs least, if there is any; NULL */
	const struct pipeline_result *least;
} stages_ahead;

/* Finds a plan of several stages of a large graph, within the memory, for
 * plan_stages_beside().  The search without stages, which takes longer, can
 * then omit what cannot be faster.  Returns false after adding errors. */
bool plan_stages_ahead(job *d, const plan_request *how, const plan_options *o,
		       stages_ahead *to);

/* If micro-batches are requested and plans are compared by time, looks for a
 * plan of several stages.  It replaces *r, the plan of auto without stages, if
 * it is faster, or fits in memory where *r does not. ahead: from
 * plan_stages_ahead(); *least: where nothing fits, the pipeline that needs
 * least, or NULL.  Returns false after adding errors. */
bool plan_stages_beside(job *d, const plan_request *how, const plan_options *o,
			const stages_ahead *ahead, plan_result *r,
			const struct pipeline_result **least);

json_t *plan_stages_json(const plan_result *r);
void plan_stages_text(FILE *to, arena *a, const plan_result *r);

#endif
