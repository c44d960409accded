/* Rules: which layouts a planner lets the solver choose from. */
#ifndef TDL_COMPILER_COST_RULES_H
#define TDL_COMPILER_COST_RULES_H

#include "compiler/cost/partial_values.h"
#include "compiler/solver/solve.h"

/* The choices that a planner which takes one axis after another offers to the
 * solver. */
typedef struct rules {
	/* The choices at a step, at least one, given those made for the same
	 * tensor or node at the steps before. */
	choices (*dims)(const void *state, const step *s, tensor_id t);
	choices (*vars)(const void *state, const step *s, node_id n);
	const void *state; /* handed to both */
	/* Solves the step; NULL: solve() within the limits, for the optimum. */
	solution (*solve)(const void *solver, arena *a, const formulation *f,
			  const solve_limits *limits);
	const void *solver; /* handed to it */
	/* Whether the choices are all that a step has, so that a proof about
	 * them holds for all plans that cut every tensor once per axis. */
	bool complete;
	/* Values that may stay partial, beside these choices; NULL: none. */
	const partial_values *partial;
	/* Whether dims() and vars() give the same to tensors of the same
	 * dimensions, and to nodes of the same kernel, after the same choices,
	 * if `now' has the same cuts for them, and `sets' the same sets; NULL:
	 * the choices do not depend on it. */
	bool uniform;
	const assignment *now;
	const partial_values *sets;
} rules;

/* All choices of some rules at a step, those of partial values included. */
choices rules_dims(const rules *r, const step *s, tensor_id t);
choices rules_vars(const rules *r, const step *s, node_id n);

/* Rules that allow all choices of a step; the state is not used. */
choices rules_all_dims(const void *state, const step *s, tensor_id t);
choices rules_all_vars(const void *state, const step *s, node_id n);

#endif
