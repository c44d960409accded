/* Values: constants, folded, and their conversion to element types. */
#include "config.h"

#include "compiler/expand/context.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "kernel/eval.h"
#include "kernel/scalar.h"

const val val_bad = { .kind = VAL_BAD };

val val_int(int64_t i)
{
	return (val){ .kind = VAL_INT, .i = i };
}

val val_float(double f)
{
	return (val){ .kind = VAL_FLOAT, .f = f };
}

val val_bool(bool b)
{
	return (val){ .kind = VAL_BOOL, .i = b };
}

val val_expr(kexpr *e)
{
	return (val){ .kind = VAL_EXPR, .e = e };
}

static double as_double(val v)
{
	return v.kind == VAL_FLOAT ? v.f : (double)v.i;
}

/* The least or greatest number of an integer type, used for infinities. */
static int64_t extreme(dtype t, bool greatest)
{
	unsigned bits = (unsigned)(dtype_bits(t) - dtype_is_signed(t));
	int64_t top = bits >= 63 ? INT64_MAX : (int64_t)(1ull << bits) - 1;
	if (bits == 64)
		top = -1; /* all ones, as u64 */
	int64_t low = dtype_is_signed(t) ? -top - 1 : 0;
	return greatest ? top : low;
}

/* An integer as a constant of a type; NULL, with an error, if the type cannot
 * hold it. */
static kexpr *int_as(context *cx, int64_t i, dtype want, range at)
{
	if (want == DT_NONE)
		want = DT_I64;
	if (dtype_is_float(want))
		return kx_float(cx->tmp, (double)i, want);
	if (want != DT_BOOL)
		return kx_int(cx->tmp, scalar_wrap(want, i), want);
	expand_error(cx, DIAG_TYPE_MISMATCH, at,
		     "a number where a condition is expected");
	return NULL;
}

static kexpr *float_as(context *cx, double f, dtype want, range at)
{
	arena *a = cx->tmp;
	if (want == DT_NONE)
		want = DT_F32;
	if (dtype_is_float(want) && isinf(f) && !elem_has_infinity(want))
		return kx_float(a, f > 0 ? elem_greatest(want) :
					   elem_least(want), want);
	if (dtype_is_float(want))
		return kx_float(a, f, want);
	if (isinf(f) && dtype_is_int(want))
		return kx_int(a, extreme(want, f > 0), want);
	expand_error(cx, DIAG_TYPE_MISMATCH, at, "%s is expected, not the "
		     "number %g", dtype_name(want), f);
	return NULL;
}

static kexpr *bool_as(context *cx, bool b, dtype want, range at)
{
	if (want == DT_NONE || want == DT_BOOL)
		return kx_int(cx->tmp, b, DT_BOOL);
	expand_error(cx, DIAG_TYPE_MISMATCH, at,
		     "%s is expected, not a condition", dtype_name(want));
	return NULL;
}

static kexpr *expr_as(context *cx, val v, dtype want, range at)
{
	if (want == DT_NONE || v.e->type == want)
		return v.e;
	expand_error(cx, DIAG_TYPE_MISMATCH, at,
		     "%s is expected, this is of type %s; write "
		     "cast(.., %s)",
		     dtype_name(want), dtype_name(v.e->type),
		     dtype_name(want));
	return NULL;
}

kexpr *expand_as(context *cx, val v, dtype want, range at)
{
	kexpr *e = NULL;
	switch (v.kind) {
	case VAL_EXPR:
		e = expr_as(cx, v, want, at);
		break;
	case VAL_INT:
		e = int_as(cx, v.i, want, at);
		break;
	case VAL_FLOAT:
		e = float_as(cx, v.f, want, at);
		break;
	case VAL_BOOL:
		e = bool_as(cx, v.i != 0, want, at);
		break;
	case VAL_STRING:
		expand_error(cx, DIAG_TYPE_MISMATCH, at,
			     "%s is expected, not a string",
			     want == DT_NONE ? "a number" : dtype_name(want));
		break;
	case VAL_BAD:
		break;
	}
	if (e)
		return e;
	if (want == DT_NONE)
		want = DT_F32;
	return dtype_is_float(want) ? kx_float(cx->tmp, 0, want) :
				      kx_int(cx->tmp, 0, want);
}

/* ---- operators on constants --------------------------------------------- */

/* Computes like the interpreter, but sizes may not overflow or be divided by
 * numbers that are not positive.  These are errors of the user. */
val fold_int(context *cx, fn f, int64_t x, int64_t y, range at)
{
	int64_t r = 0;
	bool fits = true, divides = f == FN_DIV || f == FN_MOD;
	if (divides && y <= 0 && !(y == 0 && cx->nowhere)) {
		expand_error(cx, DIAG_BAD_DIVISOR, at,
			     "the divisor is %lld here, it has to be positive",
			     (long long)y);
		return val_bad;
	}
	if (f == FN_ADD)
		fits = ck_add(x, y, &r);
	else if (f == FN_SUB)
		fits = ck_sub(x, y, &r);
	else if (f == FN_MUL)
		fits = ck_mul(x, y, &r);
	else
		r = scalar_int(f, DT_I64, x, y);
	if (fits)
		return fn_is_comparison(f) ? val_bool(r) : val_int(r);
	expand_error(cx, DIAG_OVERFLOW, at,
		     "this number does not fit 64 bits for these shapes");
	return val_bad;
}

val fold_function(fn f, val x, val y)
{
	bool whole = x.kind == VAL_INT && y.kind == VAL_INT &&
		     fn_table[f].rule != FN_FLOAT;
	if (fn_gives_bool(f))
		return (val){ .kind = VAL_EXPR };
	if (whole && fn_takes(f, DT_I64))
		return val_int(scalar_int(f, DT_I64, x.i, y.i));
	if (fn_takes(f, DT_F64))
		return val_float(scalar_float(f, as_double(x), as_double(y)));
	return (val){ .kind = VAL_EXPR };
}

val fold_binary(context *cx, fn f, val x, val y, range at)
{
	if (x.kind == VAL_STRING && y.kind == VAL_STRING) {
		bool same = !strcmp(x.s, y.s);
		if (f == FN_EQ || f == FN_NE)
			return val_bool(same == (f == FN_EQ));
	}
	if (x.kind == VAL_BOOL && y.kind == VAL_BOOL) {
		val r = x;
		r.beside_data |= y.beside_data;
		r.i = f == FN_AND ? x.i && y.i
		      : f == FN_OR ? x.i || y.i
				   : (x.i == y.i) == (f == FN_EQ);
		if (f == FN_AND || f == FN_OR || f == FN_EQ || f == FN_NE)
			return r;
	}
	bool numbers = (x.kind == VAL_INT || x.kind == VAL_FLOAT) &&
		       (y.kind == VAL_INT || y.kind == VAL_FLOAT);
	if (numbers && x.kind == VAL_INT && y.kind == VAL_INT) {
		if (f <= FN_MOD || fn_is_comparison(f) || f == FN_MIN ||
		    f == FN_MAX)
			return fold_int(cx, f, x.i, y.i, at);
	} else if (numbers) {
		double a = as_double(x), b = as_double(y);
		if (fn_is_comparison(f))
			return val_bool(scalar_test(f, a, b));
		if (f < FN_MOD || f == FN_MIN || f == FN_MAX)
			return val_float(scalar_float(f, a, b));
	}
	if (numbers && !fn_table[f].of_indices)
		return fold_function(f, x, y);
	expand_error(cx, DIAG_TYPE_MISMATCH, at,
		     "'%s' cannot be applied to these", fn_name(f));
	return val_bad;
}
