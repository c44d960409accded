/* Tensors that are used only under a flag. */
#ifndef TDL_COMPILER_GRADIENT_FLAGS_H
#define TDL_COMPILER_GRADIENT_FLAGS_H

#include "compiler/gradient/stage.h"

/* By stage, the condition, known when planning, under which all uses of its
 * results stand; NULL if there is none, or there are no uses.  In the arena of
 * g. */
ast_expr **grad_flags(grad_op *g);

#endif
