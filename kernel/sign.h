/* Signs of floats, derived from the functions of an expression: for kernels
 * (kernel/monotone.c), and for operators before their shapes are known
 * (compiler/analysis). */
#ifndef TDL_KERNEL_SIGN_H
#define TDL_KERNEL_SIGN_H

#include "kernel/kernel.h"

typedef enum value_sign {
	SIGN_ANY,
	SIGN_PLUS,  /* >= 0 */
	SIGN_MINUS, /* <= 0 */
	SIGN_BOTH,  /* NaN, or 0 whose own sign is not known */
} value_sign;

/* The facts about a float that is not NaN.  Underflow is ignored: exp(x) is
 * never 0. */
typedef struct sign_facts {
	value_sign sign;
	bool nonzero;
} sign_facts;

value_sign sign_negated(value_sign x);

/* The facts on a constant. */
sign_facts sign_of_constant(double x);

/* The facts that hold of both. */
sign_facts sign_either(sign_facts x, sign_facts y);

/* The facts about f(x, y), or f(x).  A 0 has SIGN_BOTH, except as a divisor.
 * `equal': both arguments are the same expression. */
sign_facts sign_fn(fn f, sign_facts x, sign_facts y, bool equal);

#endif
