/* One step of the recursive search as a strategy problem. */
#ifndef TDL_COMPILER_SEARCH_FORMULATE_H
#define TDL_COMPILER_SEARCH_FORMULATE_H

#include "compiler/search/problem.h"
#include "compiler/search/search.h"

/* A step: the last axis of as->mesh is to be decided, those before are. */
typedef struct step {
	const graph *g;
	const assignment *as;
} step;

static inline int step_axis(const step *s)
{
	return s->as->mesh.naxes - 1;
}

/* What may be chosen for a tensor (dimensions) or a node (variables), in
 * ascending order; CUT_NONE is a choice too. */
typedef struct choices {
	int n;
	signed char at[MAX_NVARS];
} choices;

/* The one choice c. */
choices choices_one(int c);

/* The dimensions of a tensor that have enough elements left in every group to
 * be cut; CUT_NONE alone where there are none. */
choices step_dims(const step *s, tensor_id t);

/* The strategies that a node has left; CUT_NONE alone where there are none.
 * Partial results on several axes have to be combined by one reducer. */
choices step_vars(const step *s, node_id n);

/* Whether d is among what a function above returned. */
bool choices_have(const choices *c, int d);

/* The problem: variable t stands for tensor t, variable ntensors + n for node
 * n, value i for their i-th choice.  A total is C_i of the byte model for the
 * axes so far. */
typedef struct formulation {
	const step *step;
	problem *problem;
	const choices *tensors, *nodes;
	int *first; /* of a node's tables; nnodes + 1 */
} formulation;

formulation formulate(arena *a, const step *s, const choices *tensors,
		      const choices *nodes);

/* What one node costs under an assignment of the problem. */
int64_t formulation_node_bytes(const formulation *f, node_id n,
			       const int *value);

#endif
