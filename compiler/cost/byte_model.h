/* The byte model of one operator in one group of workers: the elements that a
 * group needs, produces and stores, and those it receives.  All planners that
 * minimise bytes use it. */
#ifndef TDL_COMPILER_COST_BYTE_MODEL_H
#define TDL_COMPILER_COST_BYTE_MODEL_H

#include "compiler/cost/assignment.h"
#include "layout/layout.h"

/* The move of a tensor from where it was produced to where it is stored. */
typedef struct result_move {
	const mesh *mesh;
	const cuts *cuts; /* the tensor's */
	uint32_t partial; /* of layout_combined_axes() */
} result_move;

/* The elements that the group at coords receives for such a move; `produced'
 * and `stored' are its own regions.  If the result is partial, each of the
 * groups that share it reduces a share (layout.h), which it receives from all
 * others. */
int64_t byte_model_result(const result_move *r, const box *produced,
			  const box *stored, const int *coords);

/* The inputs of a node that are the same tensor as input i. */
uint32_t byte_model_same_inputs(const node *n, int i);

/* C_i of search.md: the bytes that node n moves under an assignment, counting
 * only the first naxes axes; exact, over all groups and all runs of the node.
 * COST_MAX if a partial tensor does not fit (layout_fits()). */
int64_t byte_model_node(const graph *g, const assignment *as, node_id n,
			int naxes);
/* The sum over all nodes. */
int64_t byte_model_total(const graph *g, const assignment *as, int naxes);

#endif
