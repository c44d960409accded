/* Inversion of reads: from the contributions of each point of a stage to the
 * derivative at each element of a tensor. */
#ifndef TDL_COMPILER_GRADIENT_INVERT_H
#define TDL_COMPILER_GRADIENT_INVERT_H

#include "compiler/gradient/adjoint.h"

/* The variables of the derivative by a tensor, which its contributions are
 * written in: named as in the first of them where that has names. */
ast_var *grad_variables(grad_op *g, int tensor, const contributions *all);

/* The sum of what c adds to the element of its tensor at vars, as many as it
 * has dimensions.  An index v + b of the read gives v; one that is c * v + b, v
 * where the rest can be divided; an index that gives no variable is a
 * condition, and the remaining variables of the stage are summed over.  NULL,
 * with g->because, if that cannot be expressed. */
ast_expr *grad_invert(grad_op *g, const contribution *c, const ast_var *vars);

#endif
