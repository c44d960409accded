/* A planner: which choices the search has at each step. */
#ifndef TDL_COMPILER_SEARCH_PLANNER_H
#define TDL_COMPILER_SEARCH_PLANNER_H

#include "compiler/search/formulate.h"

typedef struct planner {
	const char *name;
	const char *about; /* one line for users */
	/* What it has to know of the graph, in a; NULL where that is nothing.
	 * k is the number of devices. */
	void *(*start)(arena *a, const graph *g, int k);
	/* What may be chosen at a step. */
	choices (*dims)(const void *state, const step *s, tensor_id t);
	choices (*vars)(const void *state, const step *s, node_id n);
	/* What the user has to know of the result, in a, or NULL. */
	const char *(*note)(arena *a, const void *state, const graph *g,
			    const search_result *r);
	/* Whether its choices are all that a step has, so that what is proven
	 * of them is proven of all plans that cut every tensor once. */
	bool complete;
} planner;

/* The planners' rows in the table of planners.c. */
extern const planner planner_tofu, planner_data_parallel, planner_allrow;

/* The i-th planner, NULL after the last. */
const planner *planner_at(int i);

/* NULL for an unknown name. */
const planner *planner_find(const char *name);

/* A note that counts the tensors and operators which are not cut over all
 * devices; NULL where these tensors have less than that percentage of all
 * bytes, and these operators of all points of iteration. */
const char *planner_note_whole(arena *a, const graph *g,
			       const search_result *r, int percent);

/* Whether an axis does not cut. */
bool planner_whole(const cuts *c, const mesh *m);

#endif
