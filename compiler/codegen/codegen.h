/* Code generation: kernels as C and CUDA source.  Plans contain both; the
 * runtime and exported programs compile them.  Equal kernels get equal text, so
 * that compiled code can be shared. */
#ifndef TDL_COMPILER_CODEGEN_CODEGEN_H
#define TDL_COMPILER_CODEGEN_CODEGEN_H

#include "plan/plan.h"

/* The C source of a kernel, to be compiled behind tdl/generated.h and
 * tdl/product.h: a function TDL_KERNEL and its helpers TDL_PART(..).  The same
 * text for equal kernels with equal names: a line of comment, then lines that
 * define numbers, "#define TDL_NUMBER_0 ..", then the same for kernels that
 * differ in such numbers alone.  NULL for an opaque kernel, which has no
 * source. */
char *codegen_c(arena *a, const kernel *k);

/* The same as CUDA, to be compiled behind tdl/cuda.h, and the dimensions of its
 * launch. */
char *codegen_cuda(arena *a, const kernel *k, plan_launch *launch);

/* The definitions before that text for a kernel of this name with indices of 32
 * or 64 bits, all of whose bindings are words of its parameter, p.w[]: for each
 * variable TDL_LO and TDL_COUNT, for each input TDL_IN and its strides, then
 * TDL_OUT and its strides, then TDL_FAULT. */
char *codegen_cuda_words(arena *a, const kernel *k, const char *name, int bits);

/* A kernel that is computed of each element of the one before it, which is its
 * input. */
typedef struct next_kernel {
	const kernel *k;
	int input;
} next_kernel;

/* The C of a reduction and of n kernels behind it (plan_epilogue), whose result
 * has the same bits as if one was computed after the other; NULL where they are
 * no such kernels. */
char *codegen_epilogue(arena *a, const kernel *first, int n,
		       const next_kernel *next);

/* Adds to the kernels of a plan, in a, the epilogues that its program has
 * (plan_joined()). */
void codegen_epilogues(arena *a, plan *p);

/* Finds the factors that all kernels of a plan can keep, and sets
 * p->kept_bytes, at most `room'. */
void codegen_keep(plan *p, int64_t room);

/* Both, for k->kernel. */
void codegen_sources(arena *a, plan_kernel *k);

#endif
