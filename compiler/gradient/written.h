/* The last step of a derivation: its operator as it is written.  Used by
 * gradient.c alone. */
#ifndef TDL_COMPILER_GRADIENT_WRITTEN_H
#define TDL_COMPILER_GRADIENT_WRITTEN_H

#include "compiler/gradient/stage.h"

/* Gives an operator whose nodes are not shared, and whose names have symbols,
 * the form that it has in a text: variables that were made
 * (grad_new_variable()) get names that nothing around or inside of their
 * lambdas has, and signs stand where the grammar puts them. */
void grad_write_op(grad_op *g, ast_op *op);

#endif
