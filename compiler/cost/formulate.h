/* One step of the recursive search as a strategy problem: variables for tensors
 * and nodes, values for the choices that are left on one axis of the mesh,
 * costs by the byte model.  Planners formulate with it, solve.h solves. */
#ifndef TDL_COMPILER_COST_FORMULATE_H
#define TDL_COMPILER_COST_FORMULATE_H

#include "compiler/cost/assignment.h"
#include "compiler/solver/problem.h"

/* A step: the last axis of as->mesh is to be decided, all axes before it have
 * been. */
typedef struct step {
	const graph *g;
	const assignment *as;
} step;

static inline int step_axis(const step *s)
{
	return s->as->mesh.naxes - 1;
}

enum { MAX_CHOICES = MAX_NVARS + 1 + MAX_PASSINGS };

/* The choices for a tensor (dimensions) or a node (variables), in ascending
 * order; CUT_NONE is a choice too.  Behind them those of partial_values.h. */
typedef struct choices {
	int n;
	signed char at[MAX_CHOICES];
} choices;

/* The one choice c. */
choices choices_one(int c);

/* The dimensions of a tensor that have enough elements left in every group to
 * be cut; CUT_NONE alone where there are none. */
choices step_dims(const step *s, tensor_id t);

/* The strategies that a node has left; CUT_NONE alone where there are none.
 * Partial results on several axes have to be combined by one reducer. */
choices step_vars(const step *s, node_id n);

/* The reducer of the partial results that a node gives along the axes that have
 * been decided; RED_NONE where it gives none. */
reducer step_reducer(const step *s, node_id n);

/* c and CUT_NONE. */
choices choices_or_whole(choices c);

/* Whether d is one of the choices. */
bool choices_have(const choices *c, int d);

/* For each tensor the one that decides its layout, in a.  A state and its value
 * after a run have the same layout, and the first of all tensors tied in this
 * way decides for them; any other tensor decides for itself. */
tensor_id *tied_tensors(arena *a, const graph *g);

/* The problem.  Variables are numbered as the data flows: the tensors that a
 * node reads, the node, its result.  Value i of one stands for the i-th choice
 * of its tensor or node; the tensors that are tied have one, and its choices
 * are those of the one that decides.  A total is C_i of the byte model for the
 * axes so far. */
typedef struct formulation {
	const step *step;
	problem *problem;
	const choices *tensors, *nodes;
	const tensor_id *tied;
	int *tensor_var, *node_var; /* variables of tensors, of nodes */
	int *first; /* of a node's tables; nnodes + 1 */
} formulation;

formulation formulate(arena *a, const step *s, const choices *tensors,
		      const choices *nodes);

/* The choice for a tensor, or a node, in an assignment of the problem. */
int formulation_dim(const formulation *f, tensor_id t, const int *value);
int formulation_strategy(const formulation *f, node_id n, const int *value);

/* The cost of one node in an assignment of the problem. */
int64_t formulation_node_bytes(const formulation *f, node_id n,
			       const int *value);

#endif
