/* Kernels computed by the host, in the order of a GPU's stream: their inputs
 * are copied to the host, and their result back. */
#ifndef TDL_RUNTIME_CUDA_HOST_H
#define TDL_RUNTIME_CUDA_HOST_H

#include "kernel/eval.h"
#include "runtime/cuda/cuda.h"

typedef struct host_call {
	const cuda *c;
	int instr, worker;
	const kernel *k;
	opaque_fn opaque; /* NULL for the interpreter */
	box space;
	view inputs[MAX_NINPUTS], out; /* in the worker's staging memory */
	eval_status status;
	eval_fault fault;
} host_call;

/* Bytes of staging memory for a worker's run of a kernel. */
int64_t host_call_bytes(const plan *p, int instr, int worker);

/* A call that uses that staging memory, in a; the memory must outlive it. */
host_call *host_call_new(arena *a, const cuda *c, int instr, int worker,
			 opaque_fn opaque, void *staging);

/* Enqueues it. */
bool host_call_run(host_call *x, CUstream s, failure *f);

/* Whether the last run succeeded; each failure is reported once. */
bool host_call_good(host_call *x, failure *f);

#endif
