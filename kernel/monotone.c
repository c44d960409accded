#include "config.h"

#include "kernel/monotone.h"

#include <math.h>

#include "kernel/eval.h"
#include "kernel/linearity.h"
#include "kernel/sign.h"

/* The response of an expression to the maximum (or the minimum) of partial
 * inputs: it is a homomorphism, e(max(a, b)) is max(e(a), e(b)) or min(e(a),
 * e(b)). */
typedef enum monotone {
	COURSE_FREE,  /* it does not depend on the input */
	COURSE_MAX,   /* its values combine by Max */
	COURSE_MIN,
	COURSE_OTHER,
} monotone;

/* The input in question, and how what it is read at combines. */
typedef struct target {
	int input;
	monotone read;
} target;

static monotone turned(monotone c)
{
	return c == COURSE_MAX ? COURSE_MIN : c == COURSE_MIN ? COURSE_MAX : c;
}

/* Of two values one of which is chosen by what does not depend on the input:
 * a constant is its own maximum and minimum. */
static monotone either(monotone x, monotone y)
{
	if (x == COURSE_FREE)
		return y;
	return y == COURSE_FREE || x == y ? x : COURSE_OTHER;
}

/* Of a function that rises in its one argument that is not free. */
static monotone rising(monotone x, monotone y)
{
	if (x == COURSE_FREE)
		return y;
	return y == COURSE_FREE ? x : COURSE_OTHER;
}

/* max or min of both. */
static monotone extreme(monotone x, monotone y, monotone of)
{
	if (x == COURSE_FREE || y == COURSE_FREE)
		return rising(x, y);
	return x == of && y == of ? of : COURSE_OTHER;
}

/* ---- signs -------------------------------------------------------------- */

static sign_facts sign_of_expr(const kexpr *e)
{
	const sign_facts none = { SIGN_ANY, false };
	sign_facts x, y = none;
	switch (e->kind) {
	case KX_INT:
		return sign_of_constant((double)e->i);
	case KX_FLOAT:
		return sign_of_constant(e->f);
	case KX_VAR:
		return (sign_facts){ SIGN_PLUS, false };
	case KX_CAST:
		return dtype_is_float(e->type) ? sign_of_expr(e->args[0])
					       : none;
	case KX_SELECT:
		return sign_either(sign_of_expr(e->args[1]),
				   sign_of_expr(e->args[2]));
	case KX_FN:
		if (!dtype_is_float(e->type))
			return none;
		x = sign_of_expr(e->args[0]);
		if (e->nargs > 1)
			y = sign_of_expr(e->args[1]);
		return sign_fn(e->fn, x, y,
				  e->nargs > 1 &&
					  kx_equal(e->args[0], e->args[1]));
	default:
		return none;
	}
}

/* ---- courses ------------------------------------------------------------ */

static monotone monotone_of(const kexpr *e, target t);

static monotone monotone_read(const kexpr *e, target t)
{
	int ndim = kx_ndim(e);
	for (int d = 0; d < ndim; d++)
		if (monotone_of(e->args[d], t) != COURSE_FREE)
			return COURSE_OTHER;
	monotone own = e->input == t.input ? t.read : COURSE_FREE;
	return e->guarded ? either(own, monotone_of(e->args[ndim], t)) : own;
}

/* x * y of floats, where the factor that is free has a sign. */
static monotone monotone_product(const kexpr *e, monotone x, monotone y)
{
	const kexpr *factor = x == COURSE_FREE ? e->args[0] : e->args[1];
	monotone c = rising(x, y);
	switch (sign_of_expr(factor).sign) {
	case SIGN_PLUS:
		return c;
	case SIGN_MINUS:
		return turned(c);
	case SIGN_ANY:
		break;
	}
	return COURSE_OTHER;
}

/* x / y, where y is free and has a sign. */
static monotone monotone_quotient(const kexpr *e, monotone x, monotone y)
{
	sign_facts by = sign_of_expr(e->args[1]);
	if (y != COURSE_FREE || !by.nonzero || by.sign == SIGN_ANY)
		return COURSE_OTHER;
	return by.sign == SIGN_PLUS ? x : turned(x);
}

static monotone monotone_value(const kexpr *e, monotone x, monotone y)
{
	switch (fn_table[e->fn].monotone) {
	case FN_RISES:
		return rising(x, y);
	case FN_FALLS:
		return turned(rising(x, y));
	case FN_RISES_FALLS:
		return rising(x, turned(y));
	case FN_FALLS_RISES:
		return rising(turned(x), y);
	case FN_SCALED:
		return monotone_product(e, x, y);
	case FN_DIVIDED:
		return monotone_quotient(e, x, y);
	case FN_NOT_MONOTONE:
		break;
	}
	return COURSE_OTHER;
}

/* A comparison of NaN is false, as its maximum and minimum are NaN: the parts'
 * conditions combine by And, which one of NaN makes false, but not by Or. */
static monotone compared(const kexpr *e, monotone c)
{
	bool real = dtype_is_float(e->args[0]->type);
	return real && c == COURSE_MAX ? COURSE_OTHER : c;
}

/* Arithmetic on integers wraps around. */
static monotone monotone_fn(const kexpr *e, target t)
{
	monotone x = monotone_of(e->args[0], t);
	monotone y = e->nargs > 1 ? monotone_of(e->args[1], t) : COURSE_FREE;
	fn_choice choice = fn_table[e->fn].choice;
	if (x == COURSE_FREE && y == COURSE_FREE)
		return COURSE_FREE;
	if (x == COURSE_OTHER || y == COURSE_OTHER)
		return COURSE_OTHER;
	if (choice != FN_NO_CHOICE)
		return extreme(x, y, choice == FN_GREATEST ? COURSE_MAX
							   : COURSE_MIN);
	if (!dtype_is_float(e->type) && !fn_gives_bool(e->fn))
		return COURSE_OTHER;
	monotone c = monotone_value(e, x, y);
	return fn_is_comparison(e->fn) ? compared(e, c) : c;
}

/* Whether conversion never falls; from floats to integers it does not keep
 * NaN. */
static bool rises(dtype from, dtype to)
{
	bool wide = to == DT_F64 || to == DT_F32 || to == DT_F16 ||
		    to == DT_BF16;
	if (from == to || from == DT_BOOL || wide)
		return true;
	if (to == DT_BOOL)
		return dtype_is_int(from) && !dtype_is_signed(from);
	if (!dtype_is_int(to))
		return false;
	if (dtype_is_float(from))
		return false;
	if (dtype_is_signed(from) == dtype_is_signed(to))
		return dtype_bits(to) >= dtype_bits(from);
	return dtype_is_signed(to) && dtype_bits(to) > dtype_bits(from);
}

static bool is_infinite(const kexpr *e, bool minus)
{
	return e->kind == KX_FLOAT && isinf(e->f) && (e->f < 0) == minus;
}

/* A condition that depends on the input decides between two values that do
 * not, one of which is never the greater one. */
static monotone monotone_select(const kexpr *e, target t)
{
	monotone c = monotone_of(e->args[0], t);
	monotone x = monotone_of(e->args[1], t), y = monotone_of(e->args[2], t);
	if (c == COURSE_FREE)
		return either(x, y);
	if (x != COURSE_FREE || y != COURSE_FREE)
		return COURSE_OTHER;
	if (is_infinite(e->args[2], true) || is_infinite(e->args[1], false))
		return c;
	if (is_infinite(e->args[1], true) || is_infinite(e->args[2], false))
		return turned(c);
	return COURSE_OTHER;
}

static monotone monotone_of(const kexpr *e, target t)
{
	monotone x;
	switch (e->kind) {
	case KX_READ:
		return monotone_read(e, t);
	case KX_FN:
		return monotone_fn(e, t);
	case KX_SELECT:
		return monotone_select(e, t);
	case KX_CAST:
		x = monotone_of(e->args[0], t);
		return x == COURSE_FREE || rises(e->args[0]->type, e->type)
			       ? x
			       : COURSE_OTHER;
	default:
		for (int i = 0; i < e->nargs; i++)
			if (monotone_of(e->args[i], t) != COURSE_FREE)
				return COURSE_OTHER;
		return COURSE_FREE;
	}
}

/* ---- kernels ------------------------------------------------------------ */

static monotone monotone_by(reducer r)
{
	fn_choice c = reducer_choice(r);
	return c == FN_GREATEST ? COURSE_MAX
	       : c == FN_LEAST	? COURSE_MIN
				: COURSE_OTHER;
}

static reducer reducer_for(const kernel *k, monotone c)
{
	return reducer_of_choice(c == COURSE_MAX   ? FN_GREATEST
				 : c == COURSE_MIN ? FN_LEAST
						   : FN_NO_CHOICE,
				 k->type == DT_BOOL);
}

reducer kernel_commutes_with(const kernel *k, int input, reducer r)
{
	bool logic = k->inputs[input].type == DT_BOOL;
	if (!k->body || reducer_is_logic(r) != logic)
		return RED_NONE;
	if (r == RED_SUM) {
		bool adds = k->reducer == RED_NONE || k->reducer == RED_SUM;
		bool zero = elem_has_zero(k->type) &&
			    elem_has_zero(k->inputs[input].type);
		return adds && zero && kernel_body_linear(k, input) ? RED_SUM
								    : RED_NONE;
	}
	target t = { input, monotone_by(r) };
	if (t.read == COURSE_OTHER)
		return RED_NONE;
	monotone c = monotone_of(k->body, t);
	if (k->reducer != RED_NONE && monotone_by(k->reducer) != c)
		return RED_NONE;
	return reducer_for(k, c);
}
