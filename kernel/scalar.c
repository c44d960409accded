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

/* x to the power y; towards 0 where y is negative. */
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

static int64_t int_value(fn f, dtype t, int64_t x, int64_t y)
{
	uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
	switch (f) {
	case FN_ADD:
		return (int64_t)(ux + uy);
	case FN_SUB:
		return (int64_t)(ux - uy);
	case FN_MUL:
		return (int64_t)(ux * uy);
	case FN_DIV:
		return int_div(t, x, y);
	case FN_MOD:
		return int_mod(t, x, y);
	case FN_FMOD:
		return int_rem(t, x, y);
	case FN_NEG:
		return (int64_t)(0 - ux);
	case FN_MIN:
		return is_less(t, y, x) ? y : x;
	case FN_MAX:
		return is_less(t, x, y) ? y : x;
	case FN_ABS:
		return dtype_is_signed(t) && x < 0 ? (int64_t)(0 - ux) : x;
	case FN_SIGN:
		return int_sign(t, x);
	case FN_FLOOR:
	case FN_CEIL:
	case FN_ROUND:
		return x;
	case FN_POW:
		return int_pow(t, x, y);
	case FN_BIT_AND:
		return x & y;
	case FN_BIT_OR:
		return x | y;
	case FN_BIT_XOR:
		return x ^ y;
	case FN_BIT_NOT:
		return t == DT_BOOL ? !x : ~x;
	case FN_SHIFT_LEFT:
		return shift_left(t, x, y);
	case FN_SHIFT_RIGHT:
		return shift_right(t, x, y);
	case FN_RANDOM:
		return random_word(ux, uy);
	default:
		return scalar_to_int(t, scalar_float(f, scalar_to_float(t, x),
						     scalar_to_float(t, y)));
	}
}

int64_t scalar_int(fn f, dtype t, int64_t x, int64_t y)
{
	switch (f) {
	case FN_LT:
		return is_less(t, x, y);
	case FN_LE:
		return !is_less(t, y, x);
	case FN_GT:
		return is_less(t, y, x);
	case FN_GE:
		return !is_less(t, x, y);
	case FN_EQ:
		return x == y;
	case FN_NE:
		return x != y;
	case FN_AND:
		return x && y;
	case FN_OR:
		return x || y;
	case FN_NOT:
		return !x;
	case FN_ISNAN:
	case FN_ISINF:
		return 0;
	default:
		return scalar_wrap(t, int_value(f, t, x, y));
	}
}

/* ---- floats ------------------------------------------------------------ */

/* As NumPy's minimum and maximum: a NaN stays. */
static double float_min(double x, double y)
{
	return isnan(x) || x < y ? x : y;
}

static double float_max(double x, double y)
{
	return isnan(x) || x > y ? x : y;
}

/* As Python's %: the sign of the divisor. */
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

/* The functions that the C library computes. */
static double elementary(fn f, double x, double y)
{
	switch (f) {
	case FN_FLOOR:
		return floor(x);
	case FN_CEIL:
		return ceil(x);
	case FN_ROUND:
		return nearbyint(x);
	case FN_EXP:
		return exp(x);
	case FN_EXPM1:
		return expm1(x);
	case FN_LOG:
		return log(x);
	case FN_LOG1P:
		return log1p(x);
	case FN_SQRT:
		return sqrt(x);
	case FN_RSQRT:
		return 1 / sqrt(x);
	case FN_TANH:
		return tanh(x);
	case FN_SINH:
		return sinh(x);
	case FN_COSH:
		return cosh(x);
	case FN_SIN:
		return sin(x);
	case FN_COS:
		return cos(x);
	case FN_TAN:
		return tan(x);
	case FN_ASIN:
		return asin(x);
	case FN_ACOS:
		return acos(x);
	case FN_ATAN:
		return atan(x);
	case FN_ASINH:
		return asinh(x);
	case FN_ACOSH:
		return acosh(x);
	case FN_ATANH:
		return atanh(x);
	case FN_ERF:
		return erf(x);
	case FN_SIGMOID:
		return sigmoid(x);
	case FN_SOFTPLUS:
		return softplus(x);
	case FN_POW:
		return pow(x, y);
	case FN_FMOD:
		return fmod(x, y);
	default:
		return scalar_test(f, x, y);
	}
}

double scalar_float(fn f, double x, double y)
{
	switch (f) {
	case FN_ADD:
		return x + y;
	case FN_SUB:
		return x - y;
	case FN_MUL:
		return x * y;
	case FN_DIV:
		return x / y;
	case FN_MOD:
		return float_mod(x, y);
	case FN_NEG:
		return -x;
	case FN_MIN:
		return float_min(x, y);
	case FN_MAX:
		return float_max(x, y);
	case FN_ABS:
		return fabs(x);
	case FN_SIGN:
		return isnan(x) ? x : (x > 0) - (x < 0);
	default:
		return elementary(f, x, y);
	}
}

bool scalar_test(fn f, double x, double y)
{
	switch (f) {
	case FN_LT:
		return x < y;
	case FN_LE:
		return x <= y;
	case FN_GT:
		return x > y;
	case FN_GE:
		return x >= y;
	case FN_EQ:
		return x == y;
	case FN_NE:
		return x != y;
	case FN_AND:
		return x != 0 && y != 0;
	case FN_OR:
		return x != 0 || y != 0;
	case FN_NOT:
		return x == 0;
	case FN_ISNAN:
		return isnan(x);
	case FN_ISINF:
		return isinf(x);
	default:
		return false;
	}
}

/* ---- conversions ------------------------------------------------------- */

/* The first value above the type's range, and the first one in it. */
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
