/* `capture': the best plan of a layer table, the fastest plain one to compare
 * it with, and changes of the request by which a plan would fit. */
#ifndef TDL_COMPILER_PLACEMENT_CAPTURE_FIND_H
#define TDL_COMPILER_PLACEMENT_CAPTURE_FIND_H

#include "compiler/placement/capture.h"
#include "compiler/placement/remedy.h"

typedef struct capture_found {
	/* fastest: of even plans without recomputation */
	capture_plan best, fastest;
	bool has_fastest;
	capture_plans frontier; /* if requested */
	double seconds;		/* of the search */
} capture_found;

/* Returns false if nothing fits; to->best.proven says whether that is
 * proven. */
bool capture_find(arena *a, const layer_table *t, const capture_request *r,
		    bool frontier, capture_found *to);

/* Finds the plan of least peak, ignoring the memory limit.  Returns its stage
 * that needs the most memory; -1 if the request allows no plan at all. */
int capture_exceeding_stage(arena *a, const layer_table *t,
			    const capture_request *r, capture_plan *least);

/* The changes that would help: recomputation, uneven stages, any number of
 * micro-batches, more devices. */
remedies capture_remedies(arena *a, const layer_table *t,
			  const capture_request *r);

#endif
