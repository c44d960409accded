/* Rules: the layouts that a planner lets the solver choose from. */
#ifndef TDL_COMPILER_COST_RULES_H
#define TDL_COMPILER_COST_RULES_H

#include "compiler/cost/partial_values.h"
#include "compiler/solver/solve.h"

/* The choices that a planner which decides one axis at a time offers the
 * solver. */
typedef struct rules {
	/* The choices at a step, at least one, given those made for the same
	 * tensor or node at earlier steps. */
	choices (*dims)(const void *state, const step *s, tensor_id t);
	choices (*vars)(const void *state, const step *s, node_id n);
	const void *state; /* passed to both */
	/* Solves the step; NULL: solve() within the limits, to the optimum. */
	solution (*solve)(const void *solver, arena *a, const formulation *f,
			  const solve_limits *limits);
	const void *solver; /* passed to it */
	/* Whether a step has no other choices, so that a proof about them holds
	 * for all plans that cut every tensor once per axis. */
	bool complete;
	/* Values that may stay partial in addition; NULL: none. */
	const partial_values *partial;
	/* Whether dims() and vars() give the same choices for tensors of the
	 * same dimensions and nodes of the same kernel after the same earlier
	 * choices, if `now' has the same cuts for them and `sets' the same
	 * sets.  NULL: choices do not depend on it. */
	bool uniform;
	const assignment *now;
	const partial_values *sets;
} rules;

/* All choices of the rules at a step, including partial values. */
choices rules_dims(const rules *r, const step *s, tensor_id t);
choices rules_vars(const rules *r, const step *s, node_id n);

/* Rules that allow all choices of a step; state is ignored. */
choices rules_all_dims(const void *state, const step *s, tensor_id t);
choices rules_all_vars(const void *state, const step *s, node_id n);

#endif
