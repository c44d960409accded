/* Prints expressions of kernels as expressions of JAX on arrays: all points of
 * an iteration space at once.  Private to compiler/export. */
#ifndef TDL_COMPILER_EXPORT_JAX_EXPR_H
#define TDL_COMPILER_EXPORT_JAX_EXPR_H

#include "kernel/kernel.h"

/* The axes of the arrays in an expression: variables of the kernel, in this
 * order.  An array that does not depend on a variable has size 1 along its
 * axis, or lacks the axis if no axis before it is present. */
typedef struct jax_axes {
	int n;
	int var[MAX_NVARS];
} jax_axes;

/* Text with the precedence of its outermost operator. */
typedef struct jax_piece {
	const char *s;
	c_binding bind;
	uint32_t vars; /* the variables on which it depends, a bit each */
	bool literal;  /* a number without a type */
} jax_piece;

typedef struct jax_printer {
	arena *a;
	const kernel *k;
	const char *const *inputs; /* the names of its inputs */
} jax_printer;

/* The name of an element type in JAX: "jnp.float32".  NULL if JAX has no such
 * element type. */
const char *jax_type(dtype t);

/* The type in which elements of a type are computed: f32 for small floats. */
dtype jax_compute_type(dtype t);

/* The variables that e depends on, a bit each. */
uint32_t jax_vars(const kexpr *e);

/* Axes for all variables in `vars', in ascending order. */
jax_axes jax_axes_of(uint32_t vars);

/* e along these axes, which include all variables that it depends on. */
jax_piece jax_print(const jax_printer *p, const jax_axes *x, const kexpr *e);

/* The same in parentheses if it binds less tightly than `least'. */
const char *jax_print_at(const jax_printer *p, const jax_axes *x,
			 const kexpr *e, c_binding least);

/* Whether the text of e has the type in which e is computed; if not, it may be
 * a number without a type. */
bool jax_is_typed(const kexpr *e);

/* A piece as text that broadcasts to all axes like an array that has them. */
const char *jax_spread(const jax_printer *p, const jax_axes *x,
		       const jax_piece *e);

/* n integers as a Python tuple: "(1,)". */
const char *jax_tuple(arena *a, int n, const int64_t *x);

/* ---- jax_read.c -------------------------------------------------------- */

/* Prints a read without data-dependent indices: text with the dimensions of the
 * variables in *have, in this order.  Returns false for other reads. */
bool jax_read_direct(const jax_printer *p, const kexpr *read, const char **s,
		     jax_axes *have);

/* Prints any read along these axes. */
jax_piece jax_read(const jax_printer *p, const jax_axes *x,
		   const kexpr *read);

#endif
