/* Inversion of reads: turns the contributions at each point of a stage into the
 * derivative at each element of a tensor. */
#ifndef TDL_COMPILER_GRADIENT_INVERT_H
#define TDL_COMPILER_GRADIENT_INVERT_H

#include "compiler/gradient/adjoint.h"

/* The variables of the derivative by a tensor, over which its contributions are
 * written.  Their names are those in the first contribution that has names. */
ast_var *grad_variables(grad_op *g, int tensor, const contributions *all);

/* The sum of what c adds to the element of its tensor at vars, one per
 * dimension.  An index v + b of the read determines v; an index c * v + b
 * determines v if the division leaves no remainder; an index that determines no
 * variable becomes a condition.  The remaining variables of the stage are
 * summed over.  Returns NULL, with g->because set, if this cannot be
 * expressed. */
ast_expr *grad_invert(grad_op *g, const contribution *c, const ast_var *vars);

#endif
