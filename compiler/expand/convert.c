/* Functions of a value and an element type: cast, bitcast, saturate. */
#include "config.h"

#include "compiler/expand/context.h"

#include <math.h>
#include <string.h>

#include "kernel/eval.h"

/* ---- saturate ----------------------------------------------------------- */

/* The number of bits of an integer type without the sign. */
static int value_bits(dtype t)
{
	return dtype_bits(t) - dtype_is_signed(t);
}

/* The bounds of t as numbers of x's type; NULL if x cannot exceed them. */
typedef struct bounds {
	kexpr *low, *high;
} bounds;

/* The greatest double that is at most the greatest number of an integer
 * type. */
static double greatest_int(dtype t)
{
	double beyond = ldexp(1, value_bits(t));
	return fmin(beyond - 1, nextafter(beyond, 0));
}

static bounds float_bounds(arena *a, dtype x, dtype t)
{
	bool is_int = dtype_is_int(t);
	double high = is_int ? greatest_int(t) : elem_greatest(t);
	double low = !is_int		   ? elem_least(t)
		     : !dtype_is_signed(t) ? 0
					   : -ldexp(1, value_bits(t));
	low = fmax(low, elem_least(x));
	high = fmin(high, elem_greatest(x));
	return (bounds){ kx_float(a, elem_beside(x, low, true), x),
			 kx_float(a, elem_beside(x, high, false), x) };
}

static bounds int_bounds(arena *a, dtype x, dtype t)
{
	bounds b = { 0 };
	double least = dtype_is_signed(x) ? -ldexp(1, value_bits(x)) : 0;
	if (dtype_is_float(t)) {
		double low = ceil(elem_least(t)), high = elem_greatest(t);
		if (high < ldexp(1, value_bits(x)) - 1)
			b.high = kx_int(a, (int64_t)high, x);
		if (low > least)
			b.low = kx_int(a, (int64_t)low, x);
		return b;
	}
	int64_t top = (int64_t)((1ull << (value_bits(t) & 63)) - 1);
	if (value_bits(t) < value_bits(x))
		b.high = kx_int(a, top, x);
	if (dtype_is_signed(x) && !dtype_is_signed(t))
		b.low = kx_int(a, 0, x);
	else if (dtype_is_signed(x) && value_bits(t) < value_bits(x))
		b.low = kx_int(a, -top - 1, x);
	return b;
}

/* x limited to the finite numbers of t.  A NaN is unchanged. */
static kexpr *saturate(context *cx, kexpr *x, dtype t)
{
	bounds b = dtype_is_float(x->type) ?
			   float_bounds(cx->tmp, x->type, t) :
			   int_bounds(cx->tmp, x->type, t);
	if (b.low)
		x = kx_fn2(cx->tmp, FN_MAX, x, b.low);
	return b.high ? kx_fn2(cx->tmp, FN_MIN, x, b.high) : x;
}

/* ---- all three ---------------------------------------------------------- */

static val mismatch(context *cx, const ast_expr *e, const char *why)
{
	expand_error(cx, DIAG_TYPE_MISMATCH, e->at, "%s", why);
	return val_bad;
}

static val convert(context *cx, const ast_expr *e, builtin_rule rule,
		   kexpr *x, dtype t)
{
	if (rule == RULE_SATURATE) {
		if (x->type == DT_BOOL || t == DT_BOOL)
			return mismatch(cx, e, "'saturate' takes numbers");
		return val_expr(saturate(cx, x, t));
	}
	if (x->type == t)
		return val_expr(x);
	if (rule == RULE_CAST)
		return val_expr(kx_cast(cx->tmp, x, t));
	if (dtype_bits(x->type) == dtype_bits(t))
		return val_expr(kx_bitcast(cx->tmp, x, t));
	return mismatch(cx, e,
			arena_printf(cx->tmp,
				     "%s has %d bits, %s has %d; 'bitcast' "
				     "keeps their number",
				     dtype_name(x->type), dtype_bits(x->type),
				     dtype_name(t), dtype_bits(t)));
}

val expand_conversion(context *cx, const ast_expr *e, builtin_rule rule)
{
	dtype t = type_said(cx, e->args[1]->type);
	dtype own = rule == RULE_SATURATE ? cx->want
					  : expand_type(cx, e->args[0]);
	val x = expand_typed(cx, e->args[0], own);
	if (x.kind == VAL_BAD)
		return x;
	kexpr *k = expand_as(cx, x, rule == RULE_SATURATE ? own : DT_NONE,
			     e->args[0]->at);
	return cx->failed ? val_bad : convert(cx, e, rule, k, t);
}
