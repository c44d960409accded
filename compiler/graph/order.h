/* A test of kernels that only read a tensor: whether they keep its order. */
#ifndef TDL_COMPILER_GRAPH_ORDER_H
#define TDL_COMPILER_GRAPH_ORDER_H

#include "kernel/kernel.h"

/* The body of k is one read.  True where element p of the result, in row-major
 * order, is element p of the tensor read, and both have as many: a reshape.
 * It may miss such a kernel, it never takes another for one. */
bool order_is_kept(arena *a, const kernel *k);

#endif
