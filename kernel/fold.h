/* Constants folded where the result is exact, and operations that leave their
 * argument as it is.  Private to the simplifier (kernel/simplify.c).
 *
 * Each function returns NULL where the expression stays as it is; what it makes
 * is in the arena. */
#ifndef TDL_KERNEL_FOLD_H
#define TDL_KERNEL_FOLD_H

#include "kernel/kernel.h"

/* The function e->fn of args[]. */
kexpr *fold_fn(arena *a, const kexpr *e, kexpr **args);
/* x converted to t, and x's bits as t. */
kexpr *fold_cast(arena *a, dtype t, kexpr *x);
kexpr *fold_bitcast(arena *a, dtype t, kexpr *x);

#endif
