/* What each read of a stage's expression contributes to the derivative by the
 * tensor that is read. */
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
} contribution;

typedef VEC(contribution) contributions;

/* Whether the stage's reduction is constant almost everywhere. */
bool grad_is_constant(const grad_stage *s);

/* Adds what stage s contributes to the derivatives by the tensors for which
 * wanted[tensor] is set.  Stages that it needs are added to g.  Where there is
 * no rule for something, g->because is set. */
void grad_contributions(grad_op *g, const grad_stage *s, const bool *wanted,
			contributions *out);

#endif
