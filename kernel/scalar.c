#include "config.h"

#include "kernel/scalar.h"

#include <math.h>

#include "kernel/elem.h"
#include "kernel/random.h"

int64_t scalar_wrap(dtype t, int64_t v)
{
	switch (t) {
	case DT_I32:
		return (int32_t)v;
	case DT_I16:
		return (int16_t)v;
	case DT_I8:
		return (int8_t)v;
	case DT_U32:
		return (uint32_t)v;
	case DT_U16:
		return (uint16_t)v;
	case DT_U8:
		return (uint8_t)v;
	case DT_I4:
		return ((v & 15) ^ 8) - 8;
	case DT_U4:
		return v & 15;
	case DT_I2:
		return ((v & 3) ^ 2) - 2;
	case DT_U2:
		return v & 3;
	case DT_BOOL:
		return v != 0;
	default:
		return v;
	}
}

double scalar_round(dtype t, double v)
{
	switch (t) {
	case DT_F64:
		return v;
	case DT_F32:
		return (double)(float)v;
	default:
		return elem_decode(t, elem_encode(t, v));
	}
}

/* ---- integers ---------------------------------------------------------- */

static bool is_less(dtype t, int64_t x, int64_t y)
{
	return t == DT_U64 ? (uint64_t)x < (uint64_t)y : x < y;
}

static int64_t int_div(dtype t, int64_t x, int64_t y)
{
	if (y == 0)
		return 0;
	if (t == DT_U64)
		return (int64_t)((uint64_t)x / (uint64_t)y);
	if (y == -1)
		return (int64_t)(0 - (uint64_t)x);
	int64_t q = x / y;
	return q - (x % y != 0 && (x < 0) != (y < 0));
}

/* The remainder with the sign of the divisor. */
static int64_t int_mod(dtype t, int64_t x, int64_t y)
{
	if (y == 0)
		return 0;
	if (t == DT_U64)
		return (int64_t)((uint64_t)x % (uint64_t)y);
	if (y == -1)
		return 0;
	int64_t m = x % y;
	return m != 0 && (m < 0) != (y < 0) ? m + y : m;
}

/* The remainder with the sign of the dividend. */
static int64_t int_rem(dtype t, int64_t x, int64_t y)
{
	if (y == 0 || y == -1)
		return t == DT_U64 && y ? int_mod(t, x, y) : 0;
	return t == DT_U64 ? int_mod(t, x, y) : x % y;
}

/* x to the power y; rounded towards 0 for negative y. */
static int64_t int_pow(dtype t, int64_t x, int64_t y)
{
	uint64_t r = 1, base = (uint64_t)x;
	if (t != DT_U64 && y < 0)
		return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
	for (uint64_t n = (uint64_t)y; n; n >>= 1) {
		if (n & 1)
			r *= base;
		base *= base;
	}
	return (int64_t)r;
}

static int64_t shift_left(dtype t, int64_t x, int64_t y)
{
	int64_t bits = dtype_bits(t);
	return y < 0 || y >= bits ? 0 : (int64_t)((uint64_t)x << y);
}

static int64_t shift_right(dtype t, int64_t x, int64_t y)
{
	int64_t bits = dtype_bits(t);
	if (!dtype_is_signed(t))
		return y < 0 || y >= bits ? 0 : (int64_t)((uint64_t)x >> y);
	if (y < 0 || y >= bits)
		y = 63;
	return x >= 0 ? x >> y : ~(~x >> y);
}

static int64_t int_sign(dtype t, int64_t x)
{
	if (t == DT_U64)
		return x != 0;
	return (x > 0) - (x < 0);
}

/* ---- floats ------------------------------------------------------------ */

/* As NumPy's minimum and maximum: NaN propagates. */
static double float_min(double x, double y)
{
	return isnan(x) || x < y ? x : y;
}

static double float_max(double x, double y)
{
	return isnan(x) || x > y ? x : y;
}

/* As Python's %: has the sign of the divisor. */
static double float_mod(double x, double y)
{
	double m = fmod(x, y);
	if (m == 0)
		return copysign(m, y);
	return (m < 0) != (y < 0) ? m + y : m;
}

static double sigmoid(double x)
{
	if (x >= 0)
		return 1 / (1 + exp(-x));
	double e = exp(x);
	return e / (1 + e);
}

static double softplus(double x)
{
	return isnan(x) ? x : fmax(x, 0) + log1p(exp(-fabs(x)));
}

/* ---- functions.def ------------------------------------------------------- */

#define OF_FLOATS(value) value
#define OF_INTS(value)	 value
#define AS_FLOATS                                                  \
	scalar_to_int(t, scalar_float(f, scalar_to_float(t, x),    \
				      scalar_to_float(t, y)))

double scalar_float(fn f, double x, double y)
{
	switch (f) {
#define FN(id, name, kind, least, most, rule, floats, ints, ...) \
	case FN_##id:                                             \
		return floats;
#include "kernel/functions.def"
#undef FN
	case FN_COUNT:
		break;
	}
	return 0;
}

static int64_t int_value(fn f, dtype t, int64_t x, int64_t y)
{
	const uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
	switch (f) {
#define FN(id, name, kind, least, most, rule, floats, ints, ...) \
	case FN_##id:                                             \
		return ints;
#include "kernel/functions.def"
#undef FN
	case FN_COUNT:
		break;
	}
	return 0;
}

int64_t scalar_int(fn f, dtype t, int64_t x, int64_t y)
{
	int64_t v = int_value(f, t, x, y);
	return t == DT_I64 ? v : scalar_wrap(t, v);
}

bool scalar_test(fn f, double x, double y)
{
	return scalar_float(f, x, y) != 0;
}

/* ---- conversions ------------------------------------------------------- */

/* The least value above the type's range; the least in it. */
static double above(dtype t)
{
	return ldexp(1, dtype_bits(t) - dtype_is_signed(t));
}

int64_t scalar_to_int(dtype t, double v)
{
	if (t == DT_BOOL)
		return v != 0;
	double top = above(t), bottom = dtype_is_signed(t) ? -top : 0;
	if (isnan(v))
		return 0;
	if (v <= bottom)
		return t == DT_I64 ? INT64_MIN : (int64_t)bottom;
	if (t == DT_U64)
		return (int64_t)(v >= top ? UINT64_MAX : (uint64_t)v);
	if (v >= top)
		return t == DT_I64 ? INT64_MAX : (int64_t)(top - 1);
	return (int64_t)v;
}

double scalar_to_float(dtype from, int64_t v)
{
	return from == DT_U64 ? (double)(uint64_t)v : (double)v;
}
