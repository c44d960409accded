#include "config.h"

#include "kernel/sign.h"

#include <math.h>

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
	bool minus = signbit(x) && !isnan(x); /* NaN has no sign that counts */
	return (sign_facts){ minus ? SIGN_MINUS : SIGN_PLUS, x != 0 };
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
	switch (fn_table[f].choice) {
	case FN_GREATEST:
		return (sign_facts){ extreme(x.sign, y.sign, SIGN_PLUS), both };
	case FN_LEAST:
		return (sign_facts){ extreme(x.sign, y.sign, SIGN_MINUS),
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
		r.sign = x.sign == y.sign ? x.sign : SIGN_ANY;
		r.nonzero = r.sign != SIGN_ANY && (x.nonzero || y.nonzero);
		break;
	case FN_SIGN_PRODUCT:
		r.sign = equal ? SIGN_PLUS : product(x.sign, y.sign);
		r.nonzero = both;
		break;
	case FN_SIGN_QUOTIENT:
		return (sign_facts){ product(x.sign, y.sign), both };
	}
	return r;
}
