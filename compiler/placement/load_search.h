/* `load': the placement of least load, its figures, and the reason if none
 * fits. */
#ifndef TDL_COMPILER_PLACEMENT_LOAD_SEARCH_H
#define TDL_COMPILER_PLACEMENT_LOAD_SEARCH_H

#include "compiler/placement/load.h"
#include "compiler/placement/machine.h"

typedef struct load_request {
	const cost_graph *g; /* as in the file */
	const machine *m;    /* for a graph that can be run: for the makespan */
	load_options o;
	bool any_split; /* include splits that are not contiguous */
} load_request;

typedef struct load_found {
	const load_result *best;
	int64_t *loads, *peak; /* by device: ns; bytes of its operators */
	int64_t makespan;      /* ns; -1 if cores are used */
	double seconds;	       /* of the search */
} load_found;

/* Returns false if nothing was found that fits. */
bool load_search(arena *a, const load_request *r, load_found *to);

/* Bytes of all operators, and of those of the largest colour. */
typedef struct load_need {
	int64_t all, most;
} load_need;

load_need load_needs(const cost_graph *g, const load_options *o);

#endif
