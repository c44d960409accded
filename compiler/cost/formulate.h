/* One step of the recursive search as a strategy problem: variables for tensors
 * and nodes, whose values are the remaining choices on one axis of the mesh,
 * and costs by the byte model.  Planners formulate with it; solve.h solves. */
#ifndef TDL_COMPILER_COST_FORMULATE_H
#define TDL_COMPILER_COST_FORMULATE_H

#include "compiler/cost/assignment.h"
#include "compiler/solver/problem.h"

/* A step decides the last axis of as->mesh; all axes before it are decided. */
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
 * order, CUT_NONE included; then those of partial_values.h. */
typedef struct choices {
	int n;
	signed char at[MAX_CHOICES];
} choices;

/* The one choice c. */
choices choices_one(int c);

/* The dimensions of a tensor that can still be cut because every group has
 * enough elements; CUT_NONE alone if there are none. */
choices step_dims(const step *s, tensor_id t);

/* The strategies that remain for a node; CUT_NONE alone if there are none.  One
 * reducer has to combine its partial results on all axes. */
choices step_vars(const step *s, node_id n);

/* The reducer of a node's partial results along the decided axes; RED_NONE if
 * there are none. */
reducer step_reducer(const step *s, node_id n);

/* The choices c and CUT_NONE. */
choices choices_or_whole(choices c);

/* Whether d is one of the choices. */
bool choices_have(const choices *c, int d);

/* For each tensor, in a, the one that decides its layout.  A state and its next
 * value have the same layout; of all tensors tied in this way the first
 * decides.  Any other tensor decides for itself. */
tensor_id *tied_tensors(arena *a, const graph *g);

/* The problem of a step.  Variables are numbered in the order of the data flow:
 * the tensors that a node reads, the node, its result.  Value i is the i-th
 * choice of the variable's tensor or node.  Tied tensors share a variable, with
 * the choices of the one that decides.  The cost of an assignment is the sum of
 * C_i of the byte model over the axes so far. */
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

/* The choice for a tensor, or a node, in a solution of the problem. */
int formulation_dim(const formulation *f, tensor_id t, const int *value);
int formulation_strategy(const formulation *f, node_id n, const int *value);

/* The cost of one node in a solution of the problem. */
int64_t formulation_node_bytes(const formulation *f, node_id n,
			       const int *value);

#endif
