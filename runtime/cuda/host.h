/* Kernels that the host computes, in the order of a GPU's stream: their inputs
 * are copied down, and their result up. */
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

/* The bytes of staging memory that a worker's run of a kernel takes. */
int64_t host_call_bytes(const plan *p, int instr, int worker);

/* A call of that memory, in a, which stays while it is used. */
host_call *host_call_new(arena *a, const cuda *c, int instr, int worker,
			 opaque_fn opaque, void *staging);

/* Enqueues it. */
bool host_call_run(host_call *x, CUstream s, failure *f);

/* Whether the last run worked; a failure is reported once. */
bool host_call_good(host_call *x, failure *f);

#endif
