/* The head of a derived operator: its name, doc comment, parameters and
 * results.  Used by gradient.c alone. */
#ifndef TDL_COMPILER_GRADIENT_SIGNATURE_H
#define TDL_COMPILER_GRADIENT_SIGNATURE_H

#include "compiler/gradient/stage.h"

/* "op f_grad_x(dy[N], ..) -> dx[N] =", with its doc comment, for the body whose
 * text is given: with those parameters and attributes of the operator that the
 * text needs, or that bind a size or a pack in it.  input is that of x. */
const char *grad_header(grad_op *g, int input, const char *name,
			const char *body);

/* Whether a name stands in a text. */
bool grad_has_word(const char *text, const char *name);

#endif
