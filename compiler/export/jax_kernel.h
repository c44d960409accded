/* Kernels as functions of JAX.  A convolution or a product, recognized by
 * structure, becomes a call of the library; a sum over the places where an
 * index has a value becomes a scatter; any other body becomes an expression of
 * whole arrays, which is then reduced. */
#ifndef TDL_COMPILER_EXPORT_JAX_KERNEL_H
#define TDL_COMPILER_EXPORT_JAX_KERNEL_H

#include "compiler/export/jax_expr.h"

/* A kernel after its divided variables were split in two; `divided' ones are
 * joined again in the result. */
typedef struct jax_split {
	kernel kernel;
	bool divided; /* some variable of the result */
} jax_split;

jax_split jax_split_of(arena *a, const kernel *k);

/* e with the expression to[v] in place of each variable v. */
kexpr *jax_replace(arena *a, const kexpr *e, kexpr *const *to);

/* The expression of a kernel's result, with its shape and type, from arrays
 * with these names. */
const char *jax_kernel_text(arena *a, const kernel *k,
			    const char *const *inputs);

/* ---- jax_library.c ----------------------------------------------------- */

/* The kernel as one call of the library, in its shape and the type in which it
 * is computed; NULL if it is not such a call. */
const char *jax_convolution(const jax_printer *p);
const char *jax_product(const jax_printer *p);
const char *jax_scatter(const jax_printer *p);
const char *jax_opaque(const jax_printer *p);

#endif
