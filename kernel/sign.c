#include "config.h"

#include "kernel/sign.h"

value_sign sign_negated(value_sign x)
{
	return x == SIGN_PLUS ? SIGN_MINUS : x == SIGN_MINUS ? SIGN_PLUS : x;
}

static value_sign product(value_sign x, value_sign y)
{
	if (x == SIGN_ANY || y == SIGN_ANY)
		return SIGN_ANY;
	return x == y ? SIGN_PLUS : SIGN_MINUS;
}

sign_facts sign_of_constant(double x)
{
	return (sign_facts){ x < 0 ? SIGN_MINUS : SIGN_PLUS, x != 0 };
}

sign_facts sign_either(sign_facts x, sign_facts y)
{
	return (sign_facts){ x.sign == y.sign ? x.sign : SIGN_ANY,
			     x.nonzero && y.nonzero };
}

/* Of the greater one, where up is SIGN_PLUS, or the lesser. */
static value_sign extreme(value_sign x, value_sign y, value_sign up)
{
	return x == up || y == up ? up : x == y ? x : SIGN_ANY;
}

sign_facts sign_fn(fn f, sign_facts x, sign_facts y, bool equal)
{
	bool both = x.nonzero && y.nonzero;
	sign_facts r = { SIGN_ANY, false };
	switch (f) {
	case FN_EXP:
		return (sign_facts){ SIGN_PLUS, true };
	case FN_ABS:
		return (sign_facts){ SIGN_PLUS, x.nonzero };
	case FN_SQRT:
	case FN_RSQRT:
	case FN_COSH:
	case FN_SIGMOID:
	case FN_SOFTPLUS:
		return (sign_facts){ SIGN_PLUS, false };
	case FN_NEG:
		return (sign_facts){ sign_negated(x.sign), x.nonzero };
	case FN_ADD:
		r.sign = x.sign == y.sign ? x.sign : SIGN_ANY;
		r.nonzero = r.sign != SIGN_ANY && (x.nonzero || y.nonzero);
		return r;
	case FN_MUL:
		r.sign = equal ? SIGN_PLUS : product(x.sign, y.sign);
		r.nonzero = both;
		return r;
	case FN_DIV:
		return (sign_facts){ product(x.sign, y.sign), both };
	case FN_MAX:
		return (sign_facts){ extreme(x.sign, y.sign, SIGN_PLUS), both };
	case FN_MIN:
		return (sign_facts){ extreme(x.sign, y.sign, SIGN_MINUS),
				     both };
	default:
		return r;
	}
}

bool fn_rises(fn f)
{
	switch (f) {
	case FN_SIGN:
	case FN_FLOOR:
	case FN_CEIL:
	case FN_ROUND:
	case FN_EXP:
	case FN_EXPM1:
	case FN_TANH:
	case FN_SINH:
	case FN_ATAN:
	case FN_ASINH:
	case FN_ERF:
	case FN_SIGMOID:
	case FN_SOFTPLUS:
		return true;
	default:
		return false;
	}
}
