/* Signs of floats, and increasing functions: facts on a value that follow from
 * the functions in its expression.  One table for kernels (kernel/monotone.c)
 * and for operators before their shapes are known (compiler/analysis). */
#ifndef TDL_KERNEL_SIGN_H
#define TDL_KERNEL_SIGN_H

#include "kernel/kernel.h"

typedef enum value_sign {
	SIGN_ANY,
	SIGN_PLUS,  /* >= 0 */
	SIGN_MINUS, /* <= 0 */
} value_sign;

/* Of a float that is not NaN.  Underflow is left aside: exp(x) is not 0. */
typedef struct bearing {
	value_sign sign;
	bool nonzero;
} bearing;

value_sign sign_negated(value_sign x);

/* Of a constant. */
bearing bearing_of(double x);

/* Of x or y. */
bearing bearing_either(bearing x, bearing y);

/* Of f(x, y), or f(x); equal says that both arguments are the same
 * expression. */
bearing bearing_fn(fn f, bearing x, bearing y, bool equal);

/* Whether f of one float is non-decreasing and defined for all floats. */
bool fn_rises(fn f);

#endif
