/* The numbers of the reference: exact integers, and floats in f64 with a bound
 * on how far a correct implementation may be from them.
 *
 * A type says how numbers are stored.  Nothing here is shared with kernel/,
 * whose arithmetic the reference judges.
 *
 * The bound: each operation of a float type adds a few units of the type in
 * which it is computed, f32 for the small floats, and propagates the errors of
 * its operands, by the function's values at the ends of their intervals.  A
 * result that these do not determine (a comparison of two numbers that are too
 * near, a root of a number that may be negative, a possible overflow) is in
 * doubt, and so is every number that depends on it. */
#ifndef TDL_COMPILER_VERIFY_REFERENCE_NUMBER_H
#define TDL_COMPILER_VERIFY_REFERENCE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"

typedef struct ref_number {
	dtype type;    /* DT_NONE: a constant, which takes any */
	bool fraction; /* of a constant: its value is f, else i */
	bool doubt;    /* nothing is known but the type */
	double f;      /* of a float */
	double error;  /* bound of the error of f, >= 0 and finite */
	int64_t i;     /* of an integer or bool; of a u64 its bits */
	const char *text; /* of a string */
} ref_number;

/* Constants, and numbers of a type that are exact. */
ref_number ref_constant(int64_t i);
ref_number ref_fraction(double f);
ref_number ref_int(dtype t, int64_t i); /* wraps */
ref_number ref_float(dtype t, double f);
ref_number ref_bool(bool b);
ref_number ref_doubt(dtype t);

/* A constant as a number of type t; anything else stays. */
ref_number ref_meet(ref_number x, dtype t);

/* x as it is kept in a tensor of its own type: rounded, with the error that
 * this may add. */
ref_number ref_stored(ref_number x);
/* x, which may or may not have been stored in a tensor on the way. */
ref_number ref_passed(ref_number x);

/* cast, bitcast, saturate. */
ref_number ref_cast(ref_number x, dtype t);
ref_number ref_bitcast(ref_number x, dtype t);
ref_number ref_saturate(ref_number x, dtype t);

/* The float of type t nearest to f, ties to even; f as an integer of type t,
 * rounded towards zero, clamped to its range. */
double ref_round(dtype t, double f);
int64_t ref_truncate(dtype t, double f);
/* The greatest finite number, and the least. */
double ref_greatest(dtype t);
double ref_least(dtype t);
bool ref_has_infinity(dtype t);

/* The unit round-off of the type in which numbers of type t are computed. */
double ref_unit(dtype t);
/* Adds the rounding error of a result f of type t: the error of its operands is
 * in `error` already, NaN if nothing is known. */
ref_number ref_result(dtype t, double f, double error);

/* The operators + - * / % and the comparisons, by their text; and, or, not;
 * functions by their names.  Both arguments are numbers of one type; n is how
 * many there are. */
ref_number ref_apply(const char *name, int n, ref_number x, ref_number y);
/* Whether there is such a function. */
bool ref_applies(const char *name);

#endif
