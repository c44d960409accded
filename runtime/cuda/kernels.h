/* The kernels of a plan: those with CUDA, loaded on every GPU; the others as
 * functions that the host calls. */
#ifndef TDL_RUNTIME_CUDA_KERNELS_H
#define TDL_RUNTIME_CUDA_KERNELS_H

#include "runtime/exec/backend.h"
#include "plan/cuda_binding.h"
#include "runtime/cuda/cuda.h"

typedef struct cuda_kernels cuda_kernels;

/* Returns NULL with *f set on failure. */
cuda_kernels *kernels_open(cuda *c, const backend_options *o, failure *f);
void kernels_close(cuda_kernels *k);

/* Whether kernel i runs on the GPU. */
bool kernels_on_gpu(const cuda_kernels *k, int i);
/* Whether kernel i may find an index outside of its input. */
bool kernels_may_fault(const cuda_kernels *k, int i);
/* The host's function of an opaque kernel; NULL for the interpreter. */
opaque_fn kernels_opaque(const cuda_kernels *k, int i);

/* A launch of a kernel: all arguments except the stream. */
typedef struct launch {
	CUfunction function;
	unsigned blocks; /* 0: nothing to do */
	unsigned threads, shared;
	int64_t *words;
} launch;

/* The launch of kernel i for a run, on a GPU; its words are in a. */
launch kernels_launch(const cuda_kernels *k, arena *a, int i, int gpu,
		      const bind_run *r);

#endif
