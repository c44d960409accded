#include "config.h"

#include "kernel/sign.h"

#include <math.h>

value_sign sign_negated(value_sign x)
{
	return x == SIGN_PLUS ? SIGN_MINUS : x == SIGN_MINUS ? SIGN_PLUS : x;
}

static value_sign product(value_sign x, value_sign y)
{
	if (x == SIGN_BOTH || y == SIGN_BOTH)
		return SIGN_BOTH;
	if (x == SIGN_ANY || y == SIGN_ANY)
		return SIGN_ANY;
	return x == y ? SIGN_PLUS : SIGN_MINUS;
}

sign_facts sign_of_constant(double x)
{
	value_sign sign = isnan(x)     ? SIGN_BOTH
			  : signbit(x) ? SIGN_MINUS
				       : SIGN_PLUS;
	return (sign_facts){ sign, x != 0 };
}

/* The sign that x and y have in common. */
static value_sign common(value_sign x, value_sign y)
{
	return x == y || y == SIGN_BOTH ? x : x == SIGN_BOTH ? y : SIGN_ANY;
}

sign_facts sign_either(sign_facts x, sign_facts y)
{
	return (sign_facts){ common(x.sign, y.sign), x.nonzero && y.nonzero };
}

static bool is_nan(sign_facts x)
{
	return x.sign == SIGN_BOTH && x.nonzero;
}

/* The sign of the greater of x and y (up is SIGN_PLUS), or of the lesser.  Of 0
 * and a value of the other sign it is that of 0. */
static value_sign extreme(sign_facts x, sign_facts y, value_sign up)
{
	bool zero = x.sign == SIGN_BOTH || y.sign == SIGN_BOTH;
	value_sign other = x.sign == SIGN_BOTH ? y.sign : x.sign;
	if (is_nan(x) || is_nan(y))
		return SIGN_BOTH;
	if (zero)
		return other == SIGN_BOTH || other == sign_negated(up)
			       ? SIGN_BOTH : up;
	return x.sign == up || y.sign == up ? up : common(x.sign, y.sign);
}

static sign_facts sum(sign_facts x, sign_facts y)
{
	value_sign sign = common(x.sign, y.sign);
	return (sign_facts){ sign, sign != SIGN_ANY &&
					   (x.nonzero || y.nonzero) };
}

sign_facts sign_fn(fn f, sign_facts x, sign_facts y, bool equal)
{
	bool both = x.nonzero && y.nonzero;
	sign_facts r = { SIGN_ANY, false };
	switch (fn_table[f].choice) {
	case FN_GREATEST:
		return (sign_facts){ extreme(x, y, SIGN_PLUS), both };
	case FN_LEAST:
		return (sign_facts){ extreme(x, y, SIGN_MINUS),
				     both };
	case FN_NO_CHOICE:
		break;
	}
	switch (fn_table[f].sign) {
	case FN_SIGN_ANY:
		break;
	case FN_SIGN_POSITIVE:
		return (sign_facts){ SIGN_PLUS, true };
	case FN_SIGN_NONNEGATIVE:
		return (sign_facts){ SIGN_PLUS, false };
	case FN_SIGN_MAGNITUDE:
		return (sign_facts){ SIGN_PLUS, x.nonzero };
	case FN_SIGN_TURNED:
		return (sign_facts){ sign_negated(x.sign), x.nonzero };
	case FN_SIGN_DIVISOR:
		return (sign_facts){ y.sign, false };
	case FN_SIGN_SUM:
		return sum(x, y);
	case FN_SIGN_DIFFERENCE:
		y.sign = sign_negated(y.sign);
		return sum(x, y);
	case FN_SIGN_PRODUCT:
		r.sign = equal && x.sign != SIGN_BOTH
				 ? SIGN_PLUS : product(x.sign, y.sign);
		r.nonzero = both;
		break;
	case FN_SIGN_QUOTIENT:
		if (y.sign == SIGN_BOTH && !is_nan(y))
			return r;
		return (sign_facts){ product(x.sign, y.sign), both };
	}
	return r;
}
