/* Kernels of all operators of a folder, and of their gradients, for shapes that
 * are drawn. */
#ifndef TDL_TESTS_CUDA_OPERATORS_H
#define TDL_TESTS_CUDA_OPERATORS_H

#include "base/vec.h"
#include "kernel/kernel.h"

typedef VEC(const kernel *) kernel_list;

/* Adds the kernels of `shapes` shapes of each operator that differ; returns
 * how many operators had one, -1 where the folder cannot be read. */
int operators_list(arena *a, const char *opdefs, int shapes, uint64_t seed,
		   kernel_list *to);

#endif
