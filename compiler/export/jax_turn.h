/* Kernels as a loop over time runs them: on one turn's part of the batch.
 * Private to compiler/export. */
#ifndef TDL_COMPILER_EXPORT_JAX_TURN_H
#define TDL_COMPILER_EXPORT_JAX_TURN_H

#include "plan/plan.h"

/* The work of a node in a turn; the turn's number is a value of the program. */
typedef struct jax_turn {
	kernel kernel; /* with the turn's extents */
	/* By input: the dimension of which it has only the turn's part, or
	 * -1. */
	int dim[MAX_NINPUTS];
	/* Inputs, a bit each, that the plan stores whole and of which only the
	 * turn's part is read: they are cut first. */
	uint32_t cut;
	bool counts; /* its last input is the turn's number, an i64 */
} jax_turn;

/* The kernel of a node in a plan with a loop of equal turns.  Returns false if
 * it has too many variables or inputs, or if time divides a variable that adds
 * no loop. */
bool jax_turn_of(arena *a, const plan *p, const plan_node *n, jax_turn *t);

#endif
