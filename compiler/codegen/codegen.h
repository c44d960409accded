/* Code generation: kernels as C and CUDA source.  Plans contain both; the
 * runtime and exported programs compile them.  Equal kernels get equal text, so
 * that compiled code can be shared. */
#ifndef TDL_COMPILER_CODEGEN_CODEGEN_H
#define TDL_COMPILER_CODEGEN_CODEGEN_H

#include "plan/plan.h"

/* The C source of a kernel, in a, to be compiled after tdl/generated.h and
 * tdl/product.h: a function TDL_KERNEL and its helpers TDL_PART(..).  NULL for
 * an opaque kernel.  Equal kernels with equal names get equal text: a line of
 * comment, lines that define numbers, "#define TDL_NUMBER_0 ..", and the rest,
 * which is the same for kernels that differ only in such numbers. */
char *codegen_c(arena *a, const kernel *k);

/* The same as CUDA, to be compiled after tdl/cuda.h, and the dimensions of its
 * launch. */
char *codegen_cuda(arena *a, const kernel *k, plan_launch *launch);

/* The definitions that go before the CUDA text of a kernel of this name, with
 * indices of 32 or 64 bits, if all bindings are words of its parameter, p.w[]:
 * for each variable TDL_LO and TDL_COUNT, for each input TDL_IN and its
 * strides, then TDL_OUT and its strides, then TDL_FAULT. */
char *codegen_cuda_words(arena *a, const kernel *k, const char *name, int bits);

/* A kernel applied to each element of the result of the one before it, which is
 * its input number `input'. */
typedef struct next_kernel {
	const kernel *k;
	int input;
} next_kernel;

/* The C source of a reduction followed by n kernels (plan_epilogue), in a.  It
 * gives the same bits as computing one after the other.  NULL if the kernels
 * cannot be joined. */
char *codegen_epilogue(arena *a, const kernel *first, int n,
		       const next_kernel *next);

/* Adds the epilogues that a plan's program uses (plan_joined()) to its kernels,
 * in a. */
void codegen_epilogues(arena *a, plan *p);

/* Finds the factors that the kernels of a plan can keep packed (plan/kept.h),
 * and sets p->kept_bytes to at most `room'. */
void codegen_keep(plan *p, int64_t room);

/* Generates both C and CUDA for k->kernel. */
void codegen_sources(arena *a, plan_kernel *k);

#endif
