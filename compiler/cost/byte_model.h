/* The byte model of one operator in one group of workers: which elements a
 * group needs, produces and stores, and which it receives.  All planners that
 * minimise bytes count with it. */
#ifndef TDL_COMPILER_COST_BYTE_MODEL_H
#define TDL_COMPILER_COST_BYTE_MODEL_H

#include "compiler/cost/assignment.h"
#include "compiler/cost/byte_model.h"

/* The axes, of the first naxes, along which a kernel cut by c produces partial
 * results: a bit each. */
uint32_t byte_model_partial(const kernel *k, const cuts *c, int naxes);

/* The move of a tensor from where a group produced it to where the group stores
 * it. */
typedef struct result_move {
	const mesh *mesh;
	int naxes;
	const cuts *cuts; /* the tensor's */
	uint32_t partial;   /* of byte_model_partial() */
} result_move;

/* Elements that the group at coords receives for that; `produced` and `stored`
 * are its own regions.
 *
 * Of a partial result the groups that share it, those that differ only on the
 * partial axes, combine a part each, their own, and receive it from all others
 * of the share.  Own is the produced region, cut where the stored tensor is by
 * partial axes; over the partial axes where it is not, an even run of what is
 * left in row-major order.  These parts are a partition of the produced region
 * whatever it is, though own is the stored block only where the other axes
 * agree: with the axes 0 and 1 both cutting rows of the tensor, a partial axis
 * 0 and rows computed along axis 1, own is a piece of rows that lie elsewhere,
 * and the difference is moved. */
int64_t byte_model_result(const result_move *r, const box *produced,
			  const box *stored, const int *coords);

/* The region of one tensor that a node reads, through all inputs in the mask,
 * for a part of its iteration space. */
box byte_model_need(const kernel *k, const box *space, uint32_t inputs);

/* The inputs of a node that are the same tensor as input i. */
uint32_t byte_model_same_inputs(const node *n, int i);

/* C_i of search.md for one node under an assignment, counting the first naxes
 * axes only: exact bytes over all groups. */
int64_t byte_model_node(const graph *g, const assignment *as, node_id n,
			int naxes);
/* The sum over all nodes. */
int64_t byte_model_total(const graph *g, const assignment *as, int naxes);

#endif
