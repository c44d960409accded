/* The contributions of one stage to derivatives: for each read in its
 * expression, the adjoint that the element read receives. gradient.c collects
 * them stage by stage; invert.c turns them into the derivative by each
 * tensor. */
#ifndef TDL_COMPILER_GRADIENT_ADJOINT_H
#define TDL_COMPILER_GRADIENT_ADJOINT_H

#include "compiler/gradient/stage.h"

/* At each point of the stage where the condition holds, element items[0..n) of
 * the tensor receives `adjoint'.  Elements outside of the tensor, which only
 * guarded reads can have, receive nothing. */
typedef struct contribution {
	int tensor;
	/* NULL: the whole tensor receives the tensor that `adjoint' names */
	const grad_stage *stage;
	int n;
	ast_expr **items;
	ast_expr *condition; /* NULL: always */
	ast_expr *adjoint;
	/* known when planning; if it is false, the contribution is 0.  NULL:
	 * none */
	ast_expr *flag;
} contribution;

typedef VEC(contribution) contributions;

/* Whether the stage's reduction is constant almost everywhere. */
bool grad_is_constant(const grad_stage *s);

/* Appends the contributions of stage s to the derivatives by the tensors for
 * which wanted[tensor] is set.  Adds stages that they need to g.  Sets
 * g->because if a rule is missing. */
void grad_contributions(grad_op *g, const grad_stage *s, const bool *wanted,
			contributions *out);

#endif
