/* From what a stage does at each of its points to what an element of a tensor
 * that it reads gets. */
#ifndef TDL_COMPILER_GRADIENT_INVERT_H
#define TDL_COMPILER_GRADIENT_INVERT_H

#include "compiler/gradient/adjoint.h"

/* The variables of the derivative by a tensor, which its contributions are
 * written in: named as in the first of them where that has names. */
ast_var *grad_variables(grad_op *g, int tensor, const contributions *all);

/* The sum of what c adds to the element of its tensor at vars, as many as it
 * has dimensions.  An index v + b of the read gives v; one that is c * v + b,
 * v where the rest can be divided; what gives no variable is a condition, and
 * what is left of the stage's variables is summed over.  NULL, with g->because,
 * where that cannot be said. */
ast_expr *grad_invert(grad_op *g, const contribution *c, const ast_var *vars);

#endif
