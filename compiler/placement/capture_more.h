/* Declarations shared by capture.c and capture_uneven.c. */
#ifndef TDL_COMPILER_PLACEMENT_CAPTURE_MORE_H
#define TDL_COMPILER_PLACEMENT_CAPTURE_MORE_H

#include "compiler/placement/capture.h"
#include "compiler/placement/stage_search.h"

typedef struct capture_search {
	arena *a, *own; /* arenas of results and of the search */
	const layer_table *t;
	const capture_request *r;
	stage_costs costs;
	int64_t work; /* work left for skips; -1: it did not suffice */
	bool found;
	capture_plan best; /* if found */
} capture_search;

/* Whether plan a is better than b by the objective. */
bool capture_better(const capture_request *r, const capture_plan *a,
		    const capture_plan *b);

/* Copies a plan that was found to c->a. */
capture_plan capture_keep(const capture_search *c, const stage_problem *p,
			  const stage_found *f);

/* Makes a plan the best if it is better than the best so far. */
void capture_take(capture_search *c, const capture_plan *p);

/* Tries uneven plans that may be better than the best so far. */
void capture_try_uneven(capture_search *c);

/* Adds uneven plans to the given frontier of even ones, so that the result
 * contains the frontier of all plans. */
void capture_add_uneven(capture_search *c, capture_plans *all);

bool capture_uneven_fits(capture_search *c);

#endif
