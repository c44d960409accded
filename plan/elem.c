#include "config.h"

#include "plan/elem.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "plan/eval.h"
#include "plan/scalar.h"

/* ---- small floats ------------------------------------------------------ */

/* A format of 16 bits with this many bits of exponent and mantissa. */
typedef struct small {
	int exponent, mantissa;
} small;

static const small half = { 5, 10 }, brain = { 8, 7 };

/* v to the nearest number of the format, ties to even, straight from the
 * double: rounding to f32 first would round twice. */
static uint16_t encode(small s, double v)
{
	const int bias = (1 << (s.exponent - 1)) - 1;
	const uint16_t infinity =
		(uint16_t)(((1 << s.exponent) - 1) << s.mantissa);
	uint16_t sign = signbit(v) ? 0x8000 : 0;
	int e;
	if (isnan(v))
		return (uint16_t)(sign | infinity | 1 << (s.mantissa - 1));
	if (isinf(v))
		return sign | infinity;
	if (v == 0)
		return sign;
	frexp(v, &e);
	e = e - 1 < 1 - bias ? 1 - bias : e - 1;
	double units = nearbyint(ldexp(fabs(v), s.mantissa - e));
	int64_t bits = (int64_t)units +
		       ((int64_t)(e + bias - 1) << s.mantissa);
	return (uint16_t)(sign | (bits > infinity ? infinity : bits));
}

static double decode(small s, uint16_t bits)
{
	const int bias = (1 << (s.exponent - 1)) - 1;
	const int top = (1 << s.exponent) - 1;
	int e = bits >> s.mantissa & top;
	int m = bits & ((1 << s.mantissa) - 1);
	double v;
	if (e == top)
		v = m ? (double)NAN : INFINITY;
	else if (e == 0)
		v = ldexp(m, 1 - bias - s.mantissa);
	else
		v = ldexp(m + (1 << s.mantissa), e - bias - s.mantissa);
	return bits & 0x8000 ? -v : v;
}

uint16_t elem_to_f16(double v)
{
	return encode(half, v);
}

uint16_t elem_to_bf16(double v)
{
	return encode(brain, v);
}

double elem_from_f16(uint16_t bits)
{
	return decode(half, bits);
}

double elem_from_bf16(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float f;
	memcpy(&f, &wide, sizeof(f));
	return (double)f;
}

/* ---- elements ---------------------------------------------------------- */

double elem_get_f64(dtype t, const void *p, int64_t i)
{
	switch (t) {
	case DT_F64:
		return ((const double *)p)[i];
	case DT_F32:
		return (double)((const float *)p)[i];
	case DT_F16:
		return elem_from_f16(((const uint16_t *)p)[i]);
	case DT_BF16:
		return elem_from_bf16(((const uint16_t *)p)[i]);
	default:
		return scalar_to_float(t, elem_get_i64(t, p, i));
	}
}

void elem_set_f64(dtype t, void *p, int64_t i, double v)
{
	switch (t) {
	case DT_F64:
		((double *)p)[i] = v;
		break;
	case DT_F32:
		((float *)p)[i] = (float)v;
		break;
	case DT_F16:
		((uint16_t *)p)[i] = elem_to_f16(v);
		break;
	case DT_BF16:
		((uint16_t *)p)[i] = elem_to_bf16(v);
		break;
	default:
		elem_set_i64(t, p, i, scalar_to_int(t, v));
	}
}

int64_t elem_get_i64(dtype t, const void *p, int64_t i)
{
	switch (t) {
	case DT_I64:
	case DT_U64:
		return ((const int64_t *)p)[i];
	case DT_I32:
		return ((const int32_t *)p)[i];
	case DT_I16:
		return ((const int16_t *)p)[i];
	case DT_I8:
		return ((const int8_t *)p)[i];
	case DT_U32:
		return ((const uint32_t *)p)[i];
	case DT_U16:
		return ((const uint16_t *)p)[i];
	case DT_U8:
		return ((const uint8_t *)p)[i];
	case DT_BOOL:
		return ((const uint8_t *)p)[i] != 0;
	default:
		return scalar_to_int(DT_I64, elem_get_f64(t, p, i));
	}
}

void elem_set_i64(dtype t, void *p, int64_t i, int64_t v)
{
	switch (dtype_is_float(t) ? 0 : dtype_size(t)) {
	case 8:
		((int64_t *)p)[i] = v;
		break;
	case 4:
		((int32_t *)p)[i] = (int32_t)v;
		break;
	case 2:
		((int16_t *)p)[i] = (int16_t)v;
		break;
	case 1:
		((int8_t *)p)[i] = t == DT_BOOL ? v != 0 : (int8_t)v;
		break;
	default:
		elem_set_f64(t, p, i, (double)v);
	}
}

/* ---- partial results --------------------------------------------------- */

static fn combiner(reducer r)
{
	switch (r) {
	case RED_SUM:
		return FN_ADD;
	case RED_PROD:
		return FN_MUL;
	case RED_MAX:
		return FN_MAX;
	case RED_MIN:
		return FN_MIN;
	case RED_AND:
		return FN_AND;
	case RED_OR:
		return FN_OR;
	default:
		assert(!"a reducer whose partial results combine");
		return FN_ADD;
	}
}

/* In the arithmetic of the type itself, f32 for the small floats. */
static double combine_float(fn f, dtype t, double x, double y)
{
	double r = scalar_float(f, x, y);
	return t == DT_F64 ? r : (double)(float)r;
}

#define COMBINE(type, expr)                                            \
	do {                                                           \
		type *x = dst;                                         \
		const type *y = src;                                   \
		for (int64_t i = 0; i < n; i++)                        \
			x[i] = (expr);                                 \
	} while (0)

void reducer_combine(reducer r, dtype t, void *dst, const void *src,
		     int64_t n)
{
	fn f = combiner(r);
	if (f == FN_ADD && t == DT_F32) {
		COMBINE(float, x[i] + y[i]);
	} else if (f == FN_ADD && t == DT_F64) {
		COMBINE(double, x[i] + y[i]);
	} else if (dtype_is_float(t)) {
		for (int64_t i = 0; i < n; i++)
			elem_set_f64(t, dst, i, combine_float(f, t,
					elem_get_f64(t, dst, i),
					elem_get_f64(t, src, i)));
	} else {
		for (int64_t i = 0; i < n; i++)
			elem_set_i64(t, dst, i, scalar_int(f, t,
					elem_get_i64(t, dst, i),
					elem_get_i64(t, src, i)));
	}
}
