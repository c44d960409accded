/* `capture': the best plan of a layer table beside the fastest plain one, and
 * what else would fit. */
#ifndef TDL_COMPILER_PLACEMENT_CAPTURE_FIND_H
#define TDL_COMPILER_PLACEMENT_CAPTURE_FIND_H

#include "compiler/placement/capture.h"
#include "compiler/placement/remedy.h"

typedef struct capture_found {
	capture_plan best, fastest; /* fastest: even, and not recomputed */
	bool has_fastest;
	capture_plans frontier; /* where it was asked for */
	double seconds;		/* of the search */
} capture_found;

/* False if nothing fits; to->best.proven says whether that is proven. */
bool capture_find(arena *a, const layer_table *t, const capture_request *r,
		    bool frontier, capture_found *to);

/* The plan of least peak, whatever the memory, and its stage of greatest
 * memory; -1 where the request allows no plan at all. */
int capture_exceeding_stage(arena *a, const layer_table *t,
			    const capture_request *r, capture_plan *least);

/* Recomputation, uneven stages, any number of micro-batches, more devices. */
remedies capture_remedies(arena *a, const layer_table *t,
			  const capture_request *r);

#endif
