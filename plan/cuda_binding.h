/* Binds the names that the CUDA text of a kernel leaves open: bounds of the
 * part of the iteration space, addresses and strides of the tensors
 * (include/tdl/cuda.h).  A value that all runs of a kernel in a plan share
 * becomes a constant in the text; the others become 64-bit words of the
 * kernel's parameter.
 *
 * Used by the CUDA backend and by exported programs; needs no CUDA itself. */
#ifndef TDL_PLAN_CUDA_BINDING_H
#define TDL_PLAN_CUDA_BINDING_H

#include "plan/plan.h"

typedef enum bind_kind {
	BIND_LO,      /* the first value of variable i */
	BIND_COUNT,   /* the number of values of variable i */
	/* of element 0, 0, .. of operand i, which may lie outside of memory */
	BIND_ADDRESS,
	BIND_STRIDE,  /* of operand i along dimension d, elements */
	BIND_FAULT,   /* the address of a tdl_fault */
} bind_kind;

/* Operands are the inputs and, after them, the result. */
typedef struct bind_slot {
	bind_kind kind;
	int i, d;
} bind_slot;

/* A worker's run of a kernel: its part of the iteration space, and for each
 * operand the box stored in memory, densely, and its address. */
typedef struct bind_run {
	const kernel *k;
	box space;
	box at[MAX_NINPUTS + 1];
	uint64_t data[MAX_NINPUTS + 1];
	uint64_t fault;
} bind_run;

/* The run of a RUN instruction; addresses are in an arena at `base'. */
bind_run bind_run_of(const plan *p, int instr, int worker, uint64_t base);

int64_t bind_value(const bind_run *r, bind_slot s);

/* The bindings of one kernel of a plan. */
typedef struct binding {
	bool used;
	bool wide; /* indices do not fit 32 bits */
	int nwords;
	bind_slot *words;
	const char *define, *undefine; /* text before and after the kernel's */
} binding;

/* The bindings of all kernels of a plan that has CUDA, in a.  They are found
 * from the given workers and a sample of the others, so that processes produce
 * the same text if their workers are alike. */
binding *bind_kernels(arena *a, const plan *p, int first, int nworkers);

/* The same for n > 0 stages of a pipeline, which share their kernels. */
typedef struct bind_part {
	const plan *p;
	int first, nworkers;
} bind_part;
binding *bind_all_kernels(arena *a, int n, const bind_part *parts);

/* The text of a kernel, `source', that is called `name', bound; in a. */
char *bind_text(arena *a, const binding *b, const char *name,
		const char *source);

/* Computes the words of a run: w[0 .. b->nwords). */
void bind_words(const binding *b, const bind_run *r, int64_t *w);

#endif
