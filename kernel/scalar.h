/* The scalar functions of functions.def on values: integers of every type and
 * bool as int64_t (u64 by its bits), floats as double.  Used by the evaluator
 * and the simplifier.  Private to kernel/. */
#ifndef TDL_KERNEL_SCALAR_H
#define TDL_KERNEL_SCALAR_H

#include "kernel/kernel.h"

/* v as a value of the integer type t: the low bits, sign- or zero-extended. */
int64_t scalar_wrap(dtype t, int64_t v);

/* v rounded to the float type t, to nearest even. */
double scalar_round(dtype t, double v);

/* f of arguments of type t, an integer type or bool; the result has type t, or
 * bool if f gives bool.  Arithmetic wraps; division by zero gives 0; a shift by
 * the width or more leaves only the sign. */
int64_t scalar_int(fn f, dtype t, int64_t x, int64_t y);

/* f of floats; 1 or 0 for an f that gives a bool. */
double scalar_float(fn f, double x, double y);

/* f of floats, for an f that gives a bool. */
bool scalar_test(fn f, double x, double y);

/* C's conversions, made total: a float that an integer type does not hold
 * gives the nearest that it holds, NaN gives 0. */
int64_t scalar_to_int(dtype t, double v);
double scalar_to_float(dtype from, int64_t v);

#endif
