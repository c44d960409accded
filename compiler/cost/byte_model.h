/* The byte model of one operator in one group of workers: which elements a
 * group needs, produces and stores, and which it receives.  All planners that
 * minimise bytes count with it. */
#ifndef TDL_COMPILER_COST_BYTE_MODEL_H
#define TDL_COMPILER_COST_BYTE_MODEL_H

#include "compiler/cost/assignment.h"
#include "layout/layout.h"

/* The move of a tensor from where a group produced it to where the group stores
 * it. */
typedef struct result_move {
	const mesh *mesh;
	const cuts *cuts; /* the tensor's */
	uint32_t partial; /* of layout_combined_axes() */
} result_move;

/* Elements that the group at coords receives for that; `produced' and `stored'
 * are its own regions.  Of a partial result each of the groups that share it
 * reduces a share (layout.h), which it receives from all others. */
int64_t byte_model_result(const result_move *r, const box *produced,
			  const box *stored, const int *coords);

/* The inputs of a node that are the same tensor as input i. */
uint32_t byte_model_same_inputs(const node *n, int i);

/* C_i of search.md for one node under an assignment, counting the first
 * naxes axes only: exact bytes over all groups, as often as the node runs.
 * COST_MAX where a tensor that is partial does not fit (layout_fits()). */
int64_t byte_model_node(const graph *g, const assignment *as, node_id n,
			int naxes);
/* The sum over all nodes. */
int64_t byte_model_total(const graph *g, const assignment *as, int naxes);

#endif
