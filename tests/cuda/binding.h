/* The words of codegen_cuda_words(). */
#ifndef TDL_TESTS_CUDA_BINDING_H
#define TDL_TESTS_CUDA_BINDING_H

#include "include/tdl/generated.h"
#include "kernel/kernel.h"

enum { BINDING_WORDS = 3 + 2 * MAX_NVARS + MAX_NINPUTS * (MAX_NDIM + 1) +
		       MAX_NDIM };

/* The words w[BINDING_WORDS]; faults are noted in *fault. */
void binding_words(const kernel *k, const tdl_args *args, tdl_fault *fault,
		   int64_t *w);

#endif
