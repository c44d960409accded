#include "config.h"

#include "kernel/elem.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernel/eval.h"
#include "kernel/scalar.h"

/* ---- floats as bits ---------------------------------------------------- */

/* A format of sign, exponent and mantissa.  Without the sign, codes up to
 * `largest' are finite numbers; `over' is the code for larger numbers; `nan'
 * that of NaN, 0 if there is none.  A format without a negative zero has NaN in
 * its place. */
typedef struct format {
	int exponent, mantissa, bias;
	uint16_t largest, over, nan;
	bool no_minus_zero;
} format;

static const format formats[DT_COUNT] = {
	[DT_F16] = { 5, 10, 15, 0x7bff, 0x7c00, 0x7e00, false },
	[DT_BF16] = { 8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, false },
	[DT_F8E4M3FN] = { 4, 3, 7, 0x7e, 0x7f, 0x7f, false },
	[DT_F8E4M3FNUZ] = { 4, 3, 8, 0x7f, 0x80, 0x80, true },
	[DT_F8E5M2] = { 5, 2, 15, 0x7b, 0x7c, 0x7e, false },
	[DT_F8E5M2FNUZ] = { 5, 2, 16, 0x7f, 0x80, 0x80, true },
	[DT_F6E2M3] = { 2, 3, 1, 0x1f, 0x1f, 0, false },
	[DT_F6E3M2] = { 3, 2, 3, 0x1f, 0x1f, 0, false },
	[DT_F4E2M1] = { 2, 1, 1, 0x7, 0x7, 0, false },
};

/* Rounds v to the nearest number of the format, ties to even, directly from the
 * double: rounding to f32 first would round twice. */
static uint16_t encode(const format *s, double v)
{
	uint16_t sign = (uint16_t)(!!signbit(v) << (s->exponent + s->mantissa));
	int e;
	if (isnan(v))
		return s->nan ? sign | s->nan : 0;
	if (isinf(v))
		return sign | s->over;
	frexp(v, &e);
	e = e - 1 < 1 - s->bias || v == 0 ? 1 - s->bias : e - 1;
	double units = nearbyint(ldexp(fabs(v), s->mantissa - e));
	int64_t bits = (int64_t)units +
		       ((int64_t)(e + s->bias - 1) << s->mantissa);
	if (bits == 0 && s->no_minus_zero)
		return 0;
	return sign | (bits > s->largest ? s->over : (uint16_t)bits);
}

static double decode(const format *s, uint16_t bits)
{
	const int width = s->exponent + s->mantissa;
	const uint16_t abs = bits & (uint16_t)((1 << width) - 1);
	const bool minus = bits >> width & 1;
	int e = abs >> s->mantissa;
	int m = abs & ((1 << s->mantissa) - 1);
	double v;
	if (abs > s->largest)
		v = abs == s->over && abs != s->nan ? INFINITY : (double)NAN;
	else if (minus && abs == 0 && s->no_minus_zero)
		v = (double)NAN;
	else if (e == 0)
		v = ldexp(m, 1 - s->bias - s->mantissa);
	else
		v = ldexp(m + (1 << s->mantissa), e - s->bias - s->mantissa);
	return minus ? -v : v;
}

/* f8e8m0: 2^(code - 127); 255 is NaN.  Ties round up; 0 and negative numbers
 * are out of range. */
enum { POWER_BIAS = 127, POWER_NAN = 255 };

static uint8_t encode_power(double v)
{
	int e;
	if (!(v > 0) || isinf(v))
		return POWER_NAN;
	double f = frexp(v, &e); /* in [1/2, 1) */
	int code = e - 1 + (f >= 0.75) + POWER_BIAS;
	return (uint8_t)(code < 0 ? 0 : code > POWER_NAN ? POWER_NAN : code);
}

static double decode_power(uint64_t code)
{
	return code == POWER_NAN ? (double)NAN
				 : ldexp(1, (int)code - POWER_BIAS);
}

uint64_t elem_encode(dtype t, double v)
{
	uint64_t bits = 0;
	float f = (float)v;
	if (t == DT_F64)
		memcpy(&bits, &v, sizeof(v));
	else if (t == DT_F32)
		memcpy(&bits, &f, sizeof(f));
	else if (t == DT_F8E8M0)
		bits = encode_power(v);
	else
		bits = encode(&formats[t], v);
	return bits;
}

double elem_decode(dtype t, uint64_t bits)
{
	double v;
	float f;
	switch (t) {
	case DT_F64:
		memcpy(&v, &bits, sizeof(v));
		return v;
	case DT_F32:
		memcpy(&f, &bits, sizeof(f));
		return (double)f;
	case DT_F8E8M0:
		return decode_power(bits & 0xff);
	default:
		return decode(&formats[t], (uint16_t)bits);
	}
}

double elem_greatest(dtype t)
{
	return t == DT_F64	? DBL_MAX
	       : t == DT_F32	? (double)FLT_MAX
	       : t == DT_F8E8M0 ? ldexp(1, POWER_BIAS)
				: elem_decode(t, formats[t].largest);
}

double elem_least(dtype t)
{
	return t == DT_F8E8M0 ? ldexp(1, -POWER_BIAS) : -elem_greatest(t);
}

bool elem_has_zero(dtype t)
{
	return t != DT_F8E8M0;
}

bool elem_has_infinity(dtype t)
{
	return t == DT_F64 || t == DT_F32 ||
	       (t != DT_F8E8M0 && formats[t].over > formats[t].largest &&
		formats[t].over != formats[t].nan);
}

double elem_beside(dtype t, double v, bool above)
{
	double r = scalar_round(t, v);
	if (above ? r >= v : r <= v)
		return r;
	uint64_t bits = elem_encode(t, r);
	bool from_zero = above == (v > 0);
	return elem_decode(t, from_zero ? bits + 1 : bits - 1);
}

/* ---- elements ---------------------------------------------------------- */

uint64_t elem_get_bits(dtype t, const void *p, int64_t i)
{
	switch (dtype_size(t)) {
	case 8:
		return ((const uint64_t *)p)[i];
	case 4:
		return ((const uint32_t *)p)[i];
	case 2:
		return ((const uint16_t *)p)[i];
	default:
		return ((const uint8_t *)p)[i];
	}
}

void elem_set_bits(dtype t, void *p, int64_t i, uint64_t bits)
{
	switch (dtype_size(t)) {
	case 8:
		((uint64_t *)p)[i] = bits;
		break;
	case 4:
		((uint32_t *)p)[i] = (uint32_t)bits;
		break;
	case 2:
		((uint16_t *)p)[i] = (uint16_t)bits;
		break;
	default:
		((uint8_t *)p)[i] = (uint8_t)bits;
		break;
	}
}

double elem_get_f64(dtype t, const void *p, int64_t i)
{
	switch (t) {
	case DT_F64:
		return ((const double *)p)[i];
	case DT_F32:
		return (double)((const float *)p)[i];
	default:
		break;
	}
	if (dtype_is_float(t))
		return elem_decode(t, elem_get_bits(t, p, i));
	return scalar_to_float(t, elem_get_i64(t, p, i));
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
	default:
		if (dtype_is_float(t))
			elem_set_bits(t, p, i, elem_encode(t, v));
		else
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
	case DT_I4:
	case DT_I2:
		return ((const int8_t *)p)[i];
	case DT_U32:
		return ((const uint32_t *)p)[i];
	case DT_U16:
		return ((const uint16_t *)p)[i];
	case DT_U8:
	case DT_U4:
	case DT_U2:
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
		((int8_t *)p)[i] = (int8_t)scalar_wrap(t, v);
		break;
	default:
		elem_set_f64(t, p, i, (double)v);
	}
}

/* Sets the unused bits of types narrower than a byte: to 0 for a float, by sign
 * or zero extension for an integer. */
void elem_clean(dtype t, void *p, int64_t n)
{
	uint8_t *x = p;
	if (dtype_bits(t) == 8 && t != DT_BOOL)
		return;
	for (int64_t i = 0; dtype_size(t) == 1 && i < n; i++)
		if (dtype_is_float(t))
			x[i] &= (uint8_t)((1 << dtype_bits(t)) - 1);
		else
			x[i] = (uint8_t)scalar_wrap(t, x[i]);
}

/* ---- partial results --------------------------------------------------- */

static fn combiner(reducer r)
{
	assert(r != RED_NONE && !reducer_is_where(r));
	return reducer_table[r].combine;
}

/* Combines in the type's arithmetic; in that of f32 for shorter floats. */
static double combine_float(fn f, dtype t, double x, double y)
{
	double r = scalar_float(f, x, y);
	return t == DT_F64 ? r : (double)(float)r;
}

/* Sixteen bytes at a time, which compilers do not by themselves where they do
 * not know that dst and src lie apart. */
#define ADD(type)                                                      \
	do {                                                           \
		typedef type lanes __attribute__((vector_size(16)));   \
		const int64_t each = (int64_t)(16 / sizeof(type));     \
		type *x = dst;                                         \
		const type *y = src;                                   \
		int64_t i = 0;                                         \
		for (; i + each <= n; i += each) {                     \
			lanes a, b;                                    \
			memcpy(&a, x + i, sizeof(a));                  \
			memcpy(&b, y + i, sizeof(b));                  \
			a += b;                                        \
			memcpy(x + i, &a, sizeof(a));                  \
		}                                                      \
		for (; i < n; i++)                                     \
			x[i] += y[i];                                  \
	} while (0)

void reducer_combine(reducer r, dtype t, void *dst, const void *src,
		     int64_t n)
{
	fn f = combiner(r);
	if (f == FN_ADD && t == DT_F32) {
		ADD(float);
	} else if (f == FN_ADD && t == DT_F64) {
		ADD(double);
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
