/* Functions of f32 as kernels compute them: without branches or tables, so that
 * compilers can vectorize them, unlike those of the C library.  Errors are
 * below 2.5 units in the last place; results for infinities, NaN and arguments
 * out of range are those of C, except for the sign of a 0.
 *
 * The polynomials are minimax approximations on the intervals given, found by
 * the exchange algorithm of Remez. */
#ifndef TDL_FUNCTIONS_H
#define TDL_FUNCTIONS_H

#include "tdl/scalar.h"

/* Selects one of two values, both of which are computed. */
TDL_INLINE float tdl_choose_f32(bool c, float x, float y)
{
	return c ? x : y;
}

/* 2^n, -126 <= n <= 127. */
TDL_INLINE float tdl_power_of_two(int32_t n)
{
	return tdl_float_of_bits((uint32_t)(n + 127) << 23);
}

/* Returns the integer n next to x log 2(e), with *rest such that exp(x) = 2^n
 * (1 + *rest); |x| < 2^20. */
TDL_INLINE int32_t tdl_exp_parts(float x, float *rest)
{
	const float magic = 12582912; /* 1.5 * 2^23, to round a sum */
	const float z = tdl_fma_f32(x, 1.44269504f, magic), n = z - magic;
	const float r = tdl_fma_f32(n, -1.42860677e-6f,
				    tdl_fma_f32(n, -0.693145752f, x));
	/* (exp(r) - 1 - r) / r^2 on [-log(2)/2, log(2)/2] */
	float p = 0.00139421689f;
	p = tdl_fma_f32(p, r, 0.00836377615f);
	p = tdl_fma_f32(p, r, 0.0416663633f);
	p = tdl_fma_f32(p, r, 0.166665734f);
	p = tdl_fma_f32(p, r, 0.5f);
	*rest = tdl_fma_f32(r * r, p, r);
	return (int32_t)(tdl_bits_of_float(z) - tdl_bits_of_float(magic));
}

TDL_INLINE float tdl_exp_f32(float x)
{
	float rest;
	x = x < -104 ? -104 : x;
	x = x > 89 ? 89 : x;
	const int32_t n = tdl_exp_parts(x, &rest);
	const float half = tdl_power_of_two(n >> 1);
	return tdl_fma_f32(half, rest, half) * tdl_power_of_two(n - (n >> 1));
}

TDL_INLINE float tdl_expm1_f32(float x)
{
	float rest, y = x < -20 ? -20 : x;
	y = y > 88 ? 88 : y;
	const float scale = tdl_power_of_two(tdl_exp_parts(y, &rest));
	return x > 88 ? tdl_exp_f32(x)
		      : tdl_fma_f32(scale, rest, scale - 1);
}

TDL_INLINE float tdl_log_f32(float x)
{
	/* x = 2^e * (1 + t) with 1 + t from sqrt(1/2) to sqrt(2) */
	const bool tiny = x < 1.17549435e-38f;
	const uint32_t bits = tdl_bits_of_float(tiny ? x * 8388608 : x);
	const int32_t e = (int32_t)(bits - 0x3f3504f3) >> 23;
	const float t = tdl_float_of_bits(bits - ((uint32_t)e << 23)) - 1;
	const float n = (float)(tiny ? e - 23 : e);
	/* (log(1 + t) - t + t^2/2) / t^3 */
	float p = -0.0785959891f;
	p = tdl_fma_f32(p, t, 0.128816409f);
	p = tdl_fma_f32(p, t, -0.131287566f);
	p = tdl_fma_f32(p, t, 0.141811933f);
	p = tdl_fma_f32(p, t, -0.166245541f);
	p = tdl_fma_f32(p, t, 0.200022862f);
	p = tdl_fma_f32(p, t, -0.250008104f);
	p = tdl_fma_f32(p, t, 0.333333167f);
	const float low = tdl_fma_f32(n, 1.42860677e-6f,
				      tdl_fma_f32(t, p, -0.5f) * (t * t));
	float y = tdl_fma_f32(n, 0.693145752f, low + t);
	y = x == 0 ? -INFINITY : y;
	y = x < 0 ? NAN : y;
	return x > 3.40282347e38f || x != x ? x : y;
}

TDL_INLINE float tdl_log1p_f32(float x)
{
	/* The error of rounding 1 + x is added to first order. */
	const float u = 1 + x, y = tdl_log_f32(u), lost = (x - (u - 1)) / u;
	return u > 0 && u < INFINITY ? y + lost : y;
}

TDL_INLINE float tdl_tanh_f32(float x)
{
	float a = fabsf(x), rest;
	a = a > 10 ? 10 : a;
	const float scale = tdl_power_of_two(tdl_exp_parts(2 * a, &rest));
	const float e = tdl_fma_f32(scale, rest, scale - 1);
	return copysignf(e / (e + 2), x);
}

TDL_INLINE float tdl_erf_f32(float x)
{
	const float a = fabsf(x), s = x * x;
	/* erf(x)/x - 1 for x^2 on [0, 1] */
	float p = 7.88912649e-5f;
	p = tdl_fma_f32(p, s, -0.000802084336f);
	p = tdl_fma_f32(p, s, 0.00518953557f);
	p = tdl_fma_f32(p, s, -0.0268544447f);
	p = tdl_fma_f32(p, s, 0.112836002f);
	p = tdl_fma_f32(p, s, -0.376126271f);
	p = tdl_fma_f32(p, s, 0.12837917f);
	/* log(1 - erf(x)) on [1, 3.95]; above, erf(x) is 1 in f32 */
	const float b = a > 3.95f ? 3.95f : a;
	float q = 0.000188819899f;
	q = tdl_fma_f32(q, b, -0.00297240587f);
	q = tdl_fma_f32(q, b, 0.0219402875f);
	q = tdl_fma_f32(q, b, -0.103327054f);
	q = tdl_fma_f32(q, b, -0.637883419f);
	q = tdl_fma_f32(q, b, -1.12725126f);
	q = tdl_fma_f32(q, b, -0.00030047595f);
	return a > 1 ? copysignf(1 - tdl_exp_f32(q), x) : tdl_fma_f32(x, p, x);
}

TDL_INLINE float tdl_sigmoid_f32(float x)
{
	const float e = tdl_exp_f32(-fabsf(x));
	return (x < 0 ? e : 1) / (1 + e);
}

TDL_INLINE float tdl_softplus_f32(float x)
{
	return tdl_max_f32(x, 0) + tdl_log1p_f32(tdl_exp_f32(-fabsf(x)));
}

/* Most exponents are one number for all elements, and often 2 or 3.  Where the
 * text has it, or the loop is short enough for compilers to move the conditions
 * out of it, loops for those are vectorized; one that calls powf() is not. */
TDL_INLINE float tdl_pow_f32(float x, float y)
{
	return y == 2 ? x * x : y == 3 ? x * x * x : powf(x, y);
}

/* As tdl_sinpi_f64(). */
TDL_INLINE float tdl_sinpi_f32(float x)
{
	return sinf(3.14159265f * remainderf(x, 1)) *
	       (1 - 2 * fabsf(remainderf(nearbyintf(x), 2)));
}

#endif
