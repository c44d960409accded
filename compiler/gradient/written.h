/* The last step of a derivation: brings the operator into the form of text.
 * Used by gradient.c alone. */
#ifndef TDL_COMPILER_GRADIENT_WRITTEN_H
#define TDL_COMPILER_GRADIENT_WRITTEN_H

#include "compiler/gradient/stage.h"

/* Prepares an operator whose nodes are not shared and whose names have symbols:
 * variables that were made (grad_new_variable()) get names that are used
 * neither around nor inside of their lambdas, and signs are placed as the
 * grammar requires. */
void grad_write_op(grad_op *g, ast_op *op);

#endif
