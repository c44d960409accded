/* The reasons for a tensor's layout in a plan: the alternatives, their costs,
 * and the operators that would pay them. */
#ifndef TDL_COMPILER_DRIVER_EXPLAIN_PLAN_H
#define TDL_COMPILER_DRIVER_EXPLAIN_PLAN_H

#include "compiler/driver/driver.h"
#include "compiler/planners/search.h"

/* A layout of a tensor along one axis, the other axes being as in the plan. */
typedef struct plan_choice {
	int dim;	     /* CUT_NONE: replicated */
	const char *refused; /* NULL, or the reason why it is impossible or has
				no plan */
	int64_t bytes;	     /* of the byte model, of the best plan with it; -1
				if it is refused */
} plan_choice;

/* The bytes that an operator which reads or computes the tensor moves on the
 * axes up to one: all other tensors as in the plan, the operator as in the plan
 * on the axes before, and divided at its best along this one. */
typedef struct plan_neighbour {
	node_id node;
	int64_t bytes[MAX_NDIM + 1]; /* by choice; -1 where it is refused */
	int64_t spread;		     /* the most less the least of them */
} plan_neighbour;

typedef struct plan_step {
	int nchoices; /* the dimensions in order, then replicated */
	plan_choice choices[MAX_NDIM + 1];
	plan_neighbour *neighbours; /* by falling spread */
} plan_step;

/* A variable of an operator that none of its axes can divide. */
typedef struct plan_undivided {
	node_id node;
	const char *variable, *why;
} plan_undivided;

typedef struct plan_reasons {
	const char *algorithm; /* that made the plan */
	const char *planner;   /* with which the choices were tried */
	const graph *graph;
	assignment as; /* the plan's */
	tensor_id tensor;
	int64_t bytes; /* of the byte model, of the plan */
	plan_step *steps; /* one per axis of the mesh */
	int nneighbours;
	VEC(plan_undivided) undivided; /* of the neighbours */
} plan_reasons;

typedef struct explain_plan_request {
	const char *plan, *tensor; /* a file, a name; NULL: not given */
	const char *algorithm;
	bool json;
} explain_plan_request;

/* Reads the plan, tries all choices and prints the reasons. */
cli_status explain_plan(driver *d, const explain_plan_request *r);

/* Prints the reasons. */
void explain_plan_text(arena *a, const plan_reasons *r);
cli_status explain_plan_json(driver *d, const plan_reasons *r);

#endif
