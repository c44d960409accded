/* The number of micro-batches, where that is left open. */
#ifndef TDL_LIBTDL_PLAN_TURNS_H
#define TDL_LIBTDL_PLAN_TURNS_H

#include "libtdl/plan_search.h"

/* Searches with each number of micro-batches that divides the batch, 1
 * among them.  The best plan goes to *r: of those that fit the limit of
 * memory, or without one the machine's memory where that is known, the one
 * of least time, or of least bytes or memory where that is the objective;
 * of equal ones that of the fewest micro-batches.  Where none fits it is
 * the one of least memory. how->graph becomes the graph that it divides.
 * Where the batch cannot be divided over time at all, there is a warning.
 * False when errors were added. */
bool plan_any_turns(job *d, plan_request *how, const plan_options *o,
		    const lower_options *lower, plan_result *r);

#endif
