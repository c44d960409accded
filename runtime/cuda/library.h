/* NVIDIA's libraries, for kernels that they compute faster than generated text.
 * These kernels are found by their structure. */
#ifndef TDL_RUNTIME_CUDA_LIBRARY_H
#define TDL_RUNTIME_CUDA_LIBRARY_H

#include "plan/cuda_binding.h"
#include "runtime/cuda/cuda.h"

typedef struct cuda_library cuda_library;
typedef struct library_run library_run;

typedef struct library_options {
	bool tf32; /* factors of f32 may be rounded to 10 bits */
} library_options;

/* Loads those that are installed of cuBLASLt and cuDNN, for all GPUs.  *f names
 * the first that is missing, which is no failure of the run. */
cuda_library *library_open_on(cuda *c, const library_options *o, failure *f);
void library_close(cuda_library *l);

/* The operation on each element of the result before it is stored. */
typedef struct library_epilogue {
	CUdeviceptr bias; /* a vector that is added .. */
	int dim;	  /* .. along this dimension of the result */
} library_epilogue;

/* A worker's run of a kernel, and its epilogue, or NULL, as calls of a library,
 * chosen now; NULL if none fits.  It lives as long as l. */
library_run *library_plan(cuda_library *l, int worker, const bind_run *r,
			  const library_epilogue *e);

/* Allocates the memory that the planned runs need beside the arenas, on each
 * GPU; called once, after all were planned. */
bool library_allocate(cuda_library *l, failure *f);

/* Bytes that a GPU has for copies of operands, as the plan says, and
 * how many of them the planned runs take. */
void library_copies(const cuda_library *l, int64_t *planned, int64_t *used);

/* Enqueues a run on a stream of the worker's GPU, whose context is the thread's
 * and which may be capturing. */
bool library_run_on(cuda_library *l, const library_run *r, CUstream s,
		    failure *f);

#endif
