/* Expressions of kernels as expressions of JAX on arrays: all points of an
 * iteration space at once.  Private to compiler/export. */
#ifndef TDL_COMPILER_EXPORT_JAX_EXPR_H
#define TDL_COMPILER_EXPORT_JAX_EXPR_H

#include "kernel/kernel.h"

/* The axes of the arrays that an expression is made of: variables of the
 * kernel, in this order.  An array that does not depend on one has the size 1
 * there, or, before the first that it depends on, no axis. */
typedef struct jax_axes {
	int n;
	int var[MAX_NVARS];
} jax_axes;

/* Text with the precedence of its outermost operator. */
typedef struct jax_piece {
	const char *s;
	c_binding bind;
	uint32_t vars; /* on which it depends, a bit each */
	bool literal;  /* a number without a type */
} jax_piece;

typedef struct jax_printer {
	arena *a;
	const kernel *k;
	const char *const *inputs; /* the names of its inputs */
} jax_printer;

/* An element type as JAX calls it: "jnp.float32"; NULL for one that arrays of
 * JAX do not have, or that is not an element of theirs. */
const char *jax_type(dtype t);

/* The type in which elements of a type are computed: f32 for small floats. */
dtype jax_compute_type(dtype t);

/* The variables that e depends on, a bit each. */
uint32_t jax_vars(const kexpr *e);

/* The axes, of all variables in `vars', in ascending order. */
jax_axes jax_axes_of(uint32_t vars);

/* e along these axes, which have all variables that it depends on. */
jax_piece jax_print(const jax_printer *p, const jax_axes *x, const kexpr *e);

/* The same in parentheses if it binds less than `least'. */
const char *jax_print_at(const jax_printer *p, const jax_axes *x,
			 const kexpr *e, c_binding least);

/* Whether the text of e has the type in which e is computed; else it may have
 * that of a number without one. */
bool jax_is_typed(const kexpr *e);

/* A piece that broadcasts to all axes as an array that has them. */
const char *jax_spread(const jax_printer *p, const jax_axes *x,
		       const jax_piece *e);

/* An int as Python writes a tuple of n of them: "(1,)". */
const char *jax_tuple(arena *a, int n, const int64_t *x);

/* ---- jax_read.c -------------------------------------------------------- */

/* A read without data-dependent indices: text with the dimensions of the
 * variables in *have, in this order.  False where it is another. */
bool jax_read_direct(const jax_printer *p, const kexpr *read, const char **s,
		     jax_axes *have);

/* Any read along these axes. */
jax_piece jax_read(const jax_printer *p, const jax_axes *x,
		   const kexpr *read);

#endif
