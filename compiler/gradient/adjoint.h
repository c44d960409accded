/* The contributions of one stage to derivatives: for each read of its
 * expression, the adjoint that the element read gets.  gradient.c collects them
 * stage by stage, invert.c turns them into the derivative by each tensor. */
#ifndef TDL_COMPILER_GRADIENT_ADJOINT_H
#define TDL_COMPILER_GRADIENT_ADJOINT_H

#include "compiler/gradient/stage.h"

/* At each point of the stage where the condition holds, the element
 * items[0..n) of the tensor gets `adjoint`; nothing where that element is not
 * inside of the tensor, which only a guarded read can be. */
typedef struct contribution {
	int tensor;
	const grad_stage *stage; /* NULL: all of the tensor gets the tensor
				    whose name `adjoint` is */
	int n;
	ast_expr **items;
	ast_expr *condition; /* NULL: always */
	ast_expr *adjoint;
	ast_expr *flag; /* all of it is 0 where this, which is known when
			   planning, does not hold; NULL: none */
} contribution;

typedef VEC(contribution) contributions;

/* Whether the stage's reduction is constant almost everywhere. */
bool grad_is_constant(const grad_stage *s);

/* Adds the contributions of stage s to the derivatives by the tensors for which
 * wanted[tensor] is set.  Stages that they need are added to g.  If a rule is
 * missing, g->because is set. */
void grad_contributions(grad_op *g, const grad_stage *s, const bool *wanted,
			contributions *out);

#endif
