/* The parts that the tests of the fake libraries share. */
#ifndef TDL_TESTS_CUDA_FAKES_H
#define TDL_TESTS_CUDA_FAKES_H

#include <check.h>
#include <cuda.h>
#include <stdint.h>

#define GOOD(call) ck_assert_int_eq((int)(call), 0)
#define IS(call, error) ck_assert_int_eq((int)(call), (int)(error))

/* Makes the context of device 0 current, in a process that has not used it; the
 * seed is that of the fake driver's order. */
void begin(int seed);

CUdeviceptr memory(size_t n);
CUstream stream(void);

/* n floats, from, from + 1, ..; the i-th of them; p as libraries take it. */
CUdeviceptr counting(int n, float from, CUstream s);
float element(CUdeviceptr p, int i, CUstream s);
void *at(CUdeviceptr p);

void add_nccl_tests(TCase *t);
void add_product_tests(TCase *t);

#endif
