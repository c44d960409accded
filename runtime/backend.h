/* Backends: what computes kernels. */
#ifndef TDL_RUNTIME_BACKEND_H
#define TDL_RUNTIME_BACKEND_H

#include "plan/eval.h"
#include "plan/plan.h"
#include "runtime/fail.h"

typedef enum kernels_from {
	KERNELS_GENERATED,   /* the plan's source, compiled */
	KERNELS_INTERPRETER, /* plan/eval.h */
	KERNELS_LIBRARY,     /* a vendor's */
} kernels_from;

typedef struct backend_options {
	kernels_from kernels;
	const char *library; /* with opaque functions' kernels; may be NULL */
	int nworkers;	/* that use it, at one time */
	int neighbours; /* on this machine, they among them */
} backend_options;

/* A part of a kernel's result to be computed.  The views' memory belongs to
 * the device. */
typedef struct kernel_run {
	int kernel; /* of the plan */
	const box *space;
	const view *inputs;
	view *out;
} kernel_run;

typedef struct backend {
	const char *name;
	const char *missing; /* why it is not there; NULL if it is */
	/* Makes the kernels of a plan ready.  NULL with *f set. */
	void *(*open)(const plan *p, const backend_options *o, failure *f);
	/* Memory of the device, 64-byte aligned and zero; NULL if there is not
	 * enough. */
	void *(*alloc)(void *b, int64_t nbytes);
	void (*free)(void *b, void *memory, int64_t nbytes);
	/* Computes; called by worker `worker`, 0 <= worker < nworkers, maybe
	 * at the same time as by others. */
	bool (*run)(void *b, int worker, const kernel_run *r, failure *f);
	void (*close)(void *b);
} backend;

extern const backend backend_cpu;

/* The i-th backend's row, NULL after the last. */
const backend *backend_row(int i);

#endif
