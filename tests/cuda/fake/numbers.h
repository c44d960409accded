/* Elements of the libraries' types, for the fakes that compute. */
#ifndef TDL_TESTS_CUDA_FAKE_NUMBERS_H
#define TDL_TESTS_CUDA_FAKE_NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A float of `exponent` and `mantissa` bits; `finite`: without infinities, as
 * f8e4m3. */
static inline float float_of_small(uint32_t x, int exponent, int mantissa,
				   int finite)
{
	const int bias = (1 << (exponent - 1)) - 1;
	const uint32_t sign = x >> (exponent + mantissa) & 1;
	const int e = (int)(x >> mantissa & ((1u << exponent) - 1));
	const uint32_t m = x & ((1u << mantissa) - 1);
	const uint32_t all = (1u << exponent) - 1;
	float v;
	if (finite ? (x & 0x7f) == 0x7f : (uint32_t)e == all && m)
		v = NAN;
	else if (!finite && (uint32_t)e == all)
		v = INFINITY;
	else if (e == 0)
		v = ldexpf((float)m, 1 - bias - mantissa);
	else
		v = ldexpf((float)(m | 1u << mantissa), e - bias - mantissa);
	return sign ? -v : v;
}

/* The nearest one, ties to even; too large becomes infinite, or NaN. */
static inline uint32_t small_of_float(float v, int exponent, int mantissa,
				      int finite)
{
	const int bias = (1 << (exponent - 1)) - 1;
	const uint32_t sign = (uint32_t)(signbit(v) != 0)
			      << (exponent + mantissa);
	const uint32_t top = finite ? 0x7f
				    : ((1u << exponent) - 1) << mantissa;
	if (v != v)
		return sign | top | (finite ? 0 : 1u << (mantissa - 1));
	const float a = fabsf(v);
	int e;
	frexpf(a, &e); /* a < 2^e */
	int unit = e - 1 - mantissa;
	if (unit < 1 - bias - mantissa || a == 0)
		unit = 1 - bias - mantissa;
	if (isinf(a) || unit > bias - mantissa + (finite ? 1 : 0))
		return sign | top;
	/* The bits of what is rounded count on into the exponent. */
	const uint32_t m = (uint32_t)rintf(ldexpf(a, -unit));
	const uint32_t bits =
		((uint32_t)(unit + bias + mantissa - 1) << mantissa) + m;
	return sign | (bits > top ? top : bits);
}

#endif
