/* Kernels made by hand, or at random, in the arena of the test. */
#ifndef TDL_TESTS_UNIT_MAKE_KERNEL_H
#define TDL_TESTS_UNIT_MAKE_KERNEL_H

#include "kernel/kernel.h"

extern arena *mem; /* of the test that runs */

/* ---- random numbers ---------------------------------------------------- */

extern uint64_t random_state;

/* lo <= result < hi */
int64_t pick(int64_t lo, int64_t hi);

/* ---- making kernels ---------------------------------------------------- */

kernel *begin(const char *name, reducer r, dtype t);
kexpr *add_var(kernel *k, const char *name, kvar_kind kind, int64_t n);

/* The dimensions follow, as int. */
int add_input(kernel *k, const char *name, dtype t, int ndim, ...);

#define READ(k, i, other, ...)                                             \
	kx_read(mem, i, (k)->inputs[i].type,                               \
		(int)(sizeof((kexpr *[]){__VA_ARGS__}) / sizeof(kexpr *)), \
		(kexpr *[]){__VA_ARGS__}, other)

kexpr *num(int64_t i);
kexpr *add(kexpr *x, kexpr *y);
kexpr *sub(kexpr *x, kexpr *y);
kexpr *mul(kexpr *x, kexpr *y);
kexpr *constant(dtype t, double f);

#endif
