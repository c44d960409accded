/* Chooses the number of micro-batches if that is left open. */
#ifndef TDL_LIBTDL_PLAN_TURNS_H
#define TDL_LIBTDL_PLAN_TURNS_H

#include "libtdl/plan_search.h"

/* Searches with each number of micro-batches that divides the batch, including
 * 1, and stores the best plan in *r.  Among plans within the memory limit
 * (without a limit, within the machine's memory if known), the best has the
 * least time, or the least bytes or memory if that is the objective; of equal
 * ones, the fewest micro-batches.  If none fits, it is the one with the least
 * memory. how->graph becomes the graph of the best division.  Adds a warning if
 * the batch cannot be divided over time at all.  Returns false after adding
 * errors. */
bool plan_any_turns(job *d, plan_request *how, const plan_options *o,
		    const lower_options *lower, plan_result *r);

#endif
