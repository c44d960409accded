/* Kernels as C. */
#ifndef TDL_COMPILER_CODEGEN_CODEGEN_H
#define TDL_COMPILER_CODEGEN_CODEGEN_H

#include "plan/kernel.h"

/* The C source of a kernel, to be compiled behind tdl/generated.h and
 * tdl/product.h: a function TDL_KERNEL and its helpers TDL_PART(..).  The same
 * text for equal kernels with equal names.  NULL for an opaque kernel, which
 * has no source. */
char *codegen_c(arena *a, const kernel *k);

#endif
