/* The built-in kernels of opaque functions. */
#ifndef TDL_RUNTIME_EXEC_BUILTIN_H
#define TDL_RUNTIME_EXEC_BUILTIN_H

#include "include/tdl/kernel.h"

/* The kernel with that name; NULL if there is none. */
tdl_kernel *builtin_kernel(const char *symbol);

tdl_kernel tdl_cholesky;
tdl_kernel tdl_determinant, tdl_inverse; /* matrix.c */
tdl_kernel tdl_top_order;		 /* order.c */

#endif
