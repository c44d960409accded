/* The head of a derived operator: its parameters, attributes and result.  Used
 * by gradient.c alone. */
#ifndef TDL_COMPILER_GRADIENT_SIGNATURE_H
#define TDL_COMPILER_GRADIENT_SIGNATURE_H

#include "compiler/gradient/stage.h"

/* Gives op, whose lets and body are those of the derivative by parameter
 * `input', its result, and those parameters and attributes of the operator that
 * it needs, or that bind a size or a pack in it.  Sets what these are, as in
 * struct gradient, in arrays that have room for all. */
void grad_make_signature(grad_op *g, int input, ast_op *op, int *params,
			 int *attrs);

#endif
