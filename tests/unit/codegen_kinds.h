/* Tests of generated kernels, of convolutions, products, reductions and other
 * kinds, for all that test_codegen.c is built with. */
#ifndef TDL_TESTS_UNIT_CODEGEN_KINDS_H
#define TDL_TESTS_UNIT_CODEGEN_KINDS_H

#include <check.h>

#include "kernel/kernel.h"

/* out[b, i, j] = Sum(k) of two matrices, each maybe transposed. */
kernel *matmul(int b, int m, int n, int kk, bool ta, bool tb, dtype t);

/* A matrix reduced along its last dimension, or along its first. */
kernel *reduce_last(reducer r, dtype t, int rows, int cols);
kernel *reduce_first(reducer r, dtype t, int rows, int cols);

void add_kinds_of_kernels(TCase *c);

#endif
