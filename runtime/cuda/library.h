/* NVIDIA's libraries, for kernels that they compute faster than generated text.
 * The kernels are recognized by structure. */
#ifndef TDL_RUNTIME_CUDA_LIBRARY_H
#define TDL_RUNTIME_CUDA_LIBRARY_H

#include "plan/cuda_binding.h"
#include "runtime/cuda/cuda.h"

typedef struct cuda_library cuda_library;
typedef struct library_run library_run;

typedef struct library_options {
	bool tf32; /* factors of f32 may be rounded to 10 bits */
} library_options;

/* Loads cuBLASLt and cuDNN, if installed, for all GPUs. *f names the first that
 * is missing; the run does not fail. */
cuda_library *library_open_on(cuda *c, const library_options *o, failure *f);
void library_close(cuda_library *l);

/* An operation on each element of the result before it is stored. */
typedef struct library_epilogue {
	CUdeviceptr bias; /* a vector that is added .. */
	int dim;	  /* .. along this dimension of the result */
} library_epilogue;

/* A worker's run of a kernel, with its epilogue or NULL, as calls of a library,
 * chosen here.  NULL if none fits.  It lives as long as l. */
library_run *library_plan(cuda_library *l, int worker, const bind_run *r,
			  const library_epilogue *e);

/* Allocates, on each GPU, the memory beside the arenas that planned runs need.
 * Call it once, after all runs are planned. */
bool library_allocate(cuda_library *l, failure *f);

/* Bytes that a GPU has for copies of operands according to the plan; of these,
 * the bytes that planned runs use. */
void library_copies(const cuda_library *l, int64_t *planned, int64_t *used);

/* Enqueues a run on a stream of the worker's GPU, whose context is current.
 * The stream may be capturing. */
bool library_run_on(cuda_library *l, const library_run *r, CUstream s,
		    failure *f);

#endif
