/* The parts of capture.c and capture_uneven.c. */
#ifndef TDL_COMPILER_PLACEMENT_CAPTURE_MORE_H
#define TDL_COMPILER_PLACEMENT_CAPTURE_MORE_H

#include "compiler/placement/capture.h"
#include "compiler/placement/stage_search.h"

typedef struct capture_search {
	arena *a, *own; /* of results; of the search */
	const layer_table *t;
	const capture_request *r;
	stage_costs costs;
	int64_t work; /* that is left for skips; -1: it was too little */
	bool found;
	capture_plan best; /* if found */
} capture_search;

/* Whether a is better than b by the objective. */
bool capture_better(const capture_request *r, const capture_plan *a,
		    const capture_plan *b);

/* A plan that was found, in c->a. */
capture_plan capture_keep(const capture_search *c, const stage_problem *p,
			  const stage_found *f);

/* Takes a plan over if it is better than the best so far. */
void capture_take(capture_search *c, const capture_plan *p);

/* Looks for uneven plans that are better than the best so far. */
void capture_try_uneven(capture_search *c);

/* Adds uneven plans to the frontier of even ones, which is given, so that the
 * frontier of all is among them. */
void capture_add_uneven(capture_search *c, capture_plans *all);

bool capture_uneven_fits(capture_search *c);

#endif
