/* Recognizes kernels that read a tensor in its own order. */
#ifndef TDL_COMPILER_GRAPH_ORDER_H
#define TDL_COMPILER_GRAPH_ORDER_H

#include "kernel/kernel.h"

/* The body of k is one read.  True if element p of the result, in row-major
 * order, is element p of the tensor read, and both have equally many: a
 * reshape.  May miss such a kernel, but never accepts another. */
bool order_is_kept(arena *a, const kernel *k);

#endif
