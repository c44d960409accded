/* Folds constants where the result is exact, and removes operations that leave
 * their argument unchanged.  Private to the simplifier (kernel/simplify.c).
 *
 * Each function returns NULL if the expression stays as it is; results are in
 * the arena. */
#ifndef TDL_KERNEL_FOLD_H
#define TDL_KERNEL_FOLD_H

#include "kernel/kernel.h"

/* The function e->fn of args[]. */
kexpr *fold_fn(arena *a, const kexpr *e, kexpr **args);
/* x converted to t, and x's bits as t. */
kexpr *fold_cast(arena *a, dtype t, kexpr *x);
kexpr *fold_bitcast(arena *a, dtype t, kexpr *x);

#endif
