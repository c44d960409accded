/* The parts that the tests of the fake libraries share. */
#ifndef TDL_TESTS_CUDA_FAKES_H
#define TDL_TESTS_CUDA_FAKES_H

#include <check.h>
#include <cuda.h>
#include <stdint.h>

#define GOOD(call) ck_assert_int_eq((int)(call), 0)
#define IS(call, error) ck_assert_int_eq((int)(call), (int)(error))

/* Takes the first device of a process that has not used it. */
void begin(int seed);

CUdeviceptr memory(size_t n);
CUstream stream(void);

/* n floats, from, from + 1, ..; element i of such; p for a library's call. */
CUdeviceptr counting(int n, float from, CUstream s);
float element(CUdeviceptr p, int i, CUstream s);
void *at(CUdeviceptr p);

void add_nccl_tests(TCase *t);
void add_product_tests(TCase *t);

#endif
