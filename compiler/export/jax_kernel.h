/* Kernels as functions of JAX.  By their structure: a convolution or a product
 * of arrays is a call of the library, a sum over the places where an index has
 * a value is a scatter; else the body is an expression of whole arrays, and
 * reduced. */
#ifndef TDL_COMPILER_EXPORT_JAX_KERNEL_H
#define TDL_COMPILER_EXPORT_JAX_KERNEL_H

#include "compiler/export/jax_expr.h"

/* Of a kernel with more variables: its result has the dimensions of `divided'
 * ones as one. */
typedef struct jax_split {
	kernel kernel;
	bool divided; /* some variable of the result */
} jax_split;

jax_split jax_split_of(arena *a, const kernel *k);

/* e with the expressions to[v] in place of variables. */
kexpr *jax_replace(arena *a, const kexpr *e, kexpr *const *to);

/* The expression of a kernel's result, of arrays with these names; of the
 * result's shape and type. */
const char *jax_kernel_text(arena *a, const kernel *k,
			    const char *const *inputs);

/* ---- jax_library.c ----------------------------------------------------- */

/* The kernel as one call of the library; NULL where it is none.  They have its
 * shape, and the type in which it is computed. */
const char *jax_convolution(const jax_printer *p);
const char *jax_product(const jax_printer *p);
const char *jax_scatter(const jax_printer *p);
const char *jax_opaque(const jax_printer *p);

#endif
