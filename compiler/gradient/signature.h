/* The head of a derived operator: its parameters, attributes and result.  Used
 * by gradient.c alone. */
#ifndef TDL_COMPILER_GRADIENT_SIGNATURE_H
#define TDL_COMPILER_GRADIENT_SIGNATURE_H

#include "compiler/gradient/stage.h"

/* Adds to op, which has the lets and body of the derivative by parameter
 * `input', its result and those parameters and attributes of the operator that
 * it needs or that bind one of its sizes or packs.  Stores their origins, as in
 * struct gradient, in arrays with room for all. */
void grad_make_signature(grad_op *g, int input, ast_op *op, int *params,
			 int *attrs);

#endif
