/* The numbers of the reference: exact integers, and floats in f64 with a bound
 * of the error that a correct implementation may have.
 *
 * A type says how numbers are stored.  Nothing here is shared with kernel/,
 * whose arithmetic the reference checks.
 *
 * The bound: each operation of a float type adds a few units of the type in
 * which it is computed, which is f32 for the small floats.  It also propagates
 * the errors of its operands, using the function's values at the ends of their
 * intervals.  A result may remain undetermined: a comparison of two numbers
 * that are too close, a root of a number that may be negative, a possible
 * overflow.  Then it is in doubt, and so is every number that depends on it. */
#ifndef TDL_COMPILER_VERIFY_REFERENCE_NUMBER_H
#define TDL_COMPILER_VERIFY_REFERENCE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"

typedef struct ref_number {
	dtype type;    /* DT_NONE: a constant, which fits any type */
	bool fraction; /* for a constant: its value is f, not i */
	bool doubt;    /* only the type is known */
	double f;      /* value of a float */
	double error;  /* bound of the error of f, >= 0 and finite */
	int64_t i;     /* value of an integer or bool; bits of a u64 */
	const char *text; /* value of a string */
} ref_number;

/* Constants, and exact numbers of a type. */
ref_number ref_constant(int64_t i);
ref_number ref_fraction(double f);
ref_number ref_int(dtype t, int64_t i); /* wraps around */
ref_number ref_float(dtype t, double f);
ref_number ref_bool(bool b);
ref_number ref_doubt(dtype t);

/* A constant as a number of type t; other numbers unchanged. */
ref_number ref_meet(ref_number x, dtype t);

/* x as stored in a tensor of its own type: rounded, with the added error. */
ref_number ref_stored(ref_number x);
/* x if it is unknown whether it was stored in a tensor in between. */
ref_number ref_passed(ref_number x);

/* The functions cast, bitcast and saturate. */
ref_number ref_cast(ref_number x, dtype t);
ref_number ref_bitcast(ref_number x, dtype t);
ref_number ref_saturate(ref_number x, dtype t);

/* ref_round(): the float of type t nearest to f, ties to even.  ref_truncate():
 * f as an integer of type t, rounded towards zero and limited to its range. */
double ref_round(dtype t, double f);
int64_t ref_truncate(dtype t, double f);
/* The greatest and the least finite number. */
double ref_greatest(dtype t);
double ref_least(dtype t);
bool ref_has_infinity(dtype t);

/* The unit round-off of the type in which numbers of type t are computed. */
double ref_unit(dtype t);
/* A result f of type t with its rounding error added.  `error' is the error
 * from the operands, NaN if nothing is known. */
ref_number ref_result(dtype t, double f, double error);

/* Applies an operator + - * / % or a comparison, given as text; and, or, not;
 * or a function, given by name.  n is the number of arguments, numbers of one
 * type. */
ref_number ref_apply(const char *name, int n, ref_number x, ref_number y);
/* Whether there is a function of this name. */
bool ref_applies(const char *name);

#endif
