/* The element-wise arithmetic of generated kernels: in C, and in CUDA, where
 * functions are the device's. */
#ifndef TDL_SCALAR_H
#define TDL_SCALAR_H

#ifndef __CUDACC_RTC__ /* which has no headers and needs none */
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#endif

#ifdef __CUDACC__
#define TDL_INLINE static __device__ __forceinline__
#else
#define TDL_INLINE static inline
#endif

/* ---- integers ---------------------------------------------------------- */

TDL_INLINE int64_t tdl_min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

TDL_INLINE int64_t tdl_max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

TDL_INLINE int64_t tdl_clamp(int64_t x, int64_t lo, int64_t hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

/* Whether 0 <= i < n. */
TDL_INLINE bool tdl_inside(int64_t i, int64_t n)
{
	return (uint64_t)i < (uint64_t)n;
}

/* Floor division and remainder by a positive constant, of indices. */
TDL_INLINE int64_t tdl_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

TDL_INLINE int64_t tdl_mod(int64_t a, int64_t b)
{
	const int64_t m = a % b;
	return m < 0 ? m + b : m;
}

TDL_INLINE int64_t tdl_ceil_div(int64_t a, int64_t b)
{
	return -tdl_div(-a, b);
}

/* ---- multiply-add ------------------------------------------------------ */

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__CUDACC__)
#define TDL_FUSED 1
#else
#define TDL_FUSED 0
#endif

TDL_INLINE float tdl_fma_f32(float a, float b, float c)
{
	return TDL_FUSED ? fmaf(a, b, c) : a * b + c;
}

TDL_INLINE double tdl_fma_f64(double a, double b, double c)
{
	return TDL_FUSED ? fma(a, b, c) : a * b + c;
}

/* Integers wrap around. */
TDL_INLINE int64_t tdl_fma_i64(int64_t a, int64_t b, int64_t c)
{
	return (int64_t)((uint64_t)a * (uint64_t)b + (uint64_t)c);
}

TDL_INLINE uint64_t tdl_fma_u64(uint64_t a, uint64_t b, uint64_t c)
{
	return a * b + c;
}

/* ---- functions of integers --------------------------------------------- */

/* For every type but u64, whose values are int64_t here.  Division by zero
 * gives 0. */
TDL_INLINE int64_t tdl_floor_div(int64_t a, int64_t b)
{
	if (b == 0 || b == -1)
		return b ? (int64_t)(0 - (uint64_t)a) : 0;
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* The remainder with the sign of the divisor. */
TDL_INLINE int64_t tdl_floor_mod(int64_t a, int64_t b)
{
	if (b == 0 || b == -1)
		return 0;
	const int64_t m = a % b;
	return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

/* The remainder with the sign of the dividend. */
TDL_INLINE int64_t tdl_rem(int64_t a, int64_t b)
{
	return b == 0 || b == -1 ? 0 : a % b;
}

TDL_INLINE uint64_t tdl_div_u64(uint64_t a, uint64_t b)
{
	return b ? a / b : 0;
}

TDL_INLINE uint64_t tdl_mod_u64(uint64_t a, uint64_t b)
{
	return b ? a % b : 0;
}

TDL_INLINE uint64_t tdl_power_u64(uint64_t base, uint64_t n)
{
	uint64_t r = 1;
	for (; n; n >>= 1) {
		if (n & 1)
			r *= base;
		base *= base;
	}
	return r;
}

/* Towards zero for a negative exponent. */
TDL_INLINE int64_t tdl_power(int64_t base, int64_t n)
{
	if (n >= 0)
		return (int64_t)tdl_power_u64((uint64_t)base, (uint64_t)n);
	return base == 1 ? 1 : base == -1 ? (n % 2 ? -1 : 1) : 0;
}

/* A shift by the width in bits or more leaves nothing but the sign. */
TDL_INLINE int64_t tdl_shift_left(int64_t a, int64_t n, int bits)
{
	return n < 0 || n >= bits ? 0 : (int64_t)((uint64_t)a << n);
}

TDL_INLINE int64_t tdl_shift_right(int64_t a, int64_t n, int bits)
{
	return a >> (n < 0 || n >= bits ? 63 : n);
}

TDL_INLINE uint64_t tdl_shift_right_u(uint64_t a, int64_t n, int bits)
{
	return n < 0 || n >= bits ? 0 : a >> n;
}

/* Of each type in which C computes. */
#define TDL_INTEGER_FUNCTIONS(T, S)                                       \
	TDL_INLINE T tdl_min_##S(T a, T b)                                \
	{                                                                 \
		return b < a ? b : a;                                     \
	}                                                                 \
	TDL_INLINE T tdl_max_##S(T a, T b)                                \
	{                                                                 \
		return b > a ? b : a;                                     \
	}

#define TDL_SIGNED_FUNCTIONS(T, U, S)                                     \
	TDL_INTEGER_FUNCTIONS(T, S)                                       \
	TDL_INLINE T tdl_abs_##S(T x)                                     \
	{                                                                 \
		return x < 0 ? (T)(0 - (U)x) : x;                         \
	}                                                                 \
	TDL_INLINE T tdl_sign_##S(T x)                                    \
	{                                                                 \
		return (T)((x > 0) - (x < 0));                            \
	}

#define TDL_UNSIGNED_FUNCTIONS(T, S)                                      \
	TDL_INTEGER_FUNCTIONS(T, S)                                       \
	TDL_INLINE T tdl_sign_##S(T x)                                    \
	{                                                                 \
		return x > 0;                                             \
	}

TDL_SIGNED_FUNCTIONS(int32_t, uint32_t, i32)
TDL_SIGNED_FUNCTIONS(int64_t, uint64_t, i64)
TDL_UNSIGNED_FUNCTIONS(uint32_t, u32)
TDL_UNSIGNED_FUNCTIONS(uint64_t, u64)

/* ---- conversions ------------------------------------------------------- */

/* The integer in [lo, hi] that is next to v towards zero; NaN gives 0. */
TDL_INLINE int64_t tdl_to_int(double v, int64_t lo, int64_t hi)
{
	if (isnan(v))
		return 0;
	return v <= (double)lo ? lo : v >= (double)hi ? hi : (int64_t)v;
}

TDL_INLINE uint64_t tdl_to_u64(double v)
{
	if (!(v > 0))
		return 0;
	return v >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)v;
}

TDL_INLINE float tdl_float_of_bits(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

TDL_INLINE uint32_t tdl_bits_of_float(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

TDL_INLINE double tdl_double_of_bits(uint64_t bits)
{
	double f;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

TDL_INLINE uint64_t tdl_bits_of_double(double f)
{
	uint64_t bits;
	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

/* Integers of less than 8 bits, out of the lower ones. */
TDL_INLINE int8_t tdl_wrap_i4(int64_t x)
{
	return (int8_t)(((x & 15) ^ 8) - 8);
}

TDL_INLINE uint8_t tdl_wrap_u4(int64_t x)
{
	return (uint8_t)(x & 15);
}

TDL_INLINE int8_t tdl_wrap_i2(int64_t x)
{
	return (int8_t)(((x & 3) ^ 2) - 2);
}

TDL_INLINE uint8_t tdl_wrap_u2(int64_t x)
{
	return (uint8_t)(x & 3);
}

/* f with the 24 bits of a float, the last of which is set where any that are
 * dropped are: rounding that again to fewer bits is rounding f once. */
TDL_INLINE float tdl_round_odd(double f)
{
	const float near = (float)f;
	const uint32_t bits = tdl_bits_of_float(near);
	if ((double)near == f || f != f)
		return near;
	return tdl_float_of_bits(
		(bits - (fabs((double)near) > fabs(f))) | 1);
}

/* ---- small floats ------------------------------------------------------ */

/* GPUs have instructions that round so, and whose NaN is one with other bits;
 * what is not here the older ones compute as the processor does.  Source: PTX
 * ISA 8.1, cvt. */
#ifdef __CUDA_ARCH__
#define TDL_CVT __CUDA_ARCH__
#else
#define TDL_CVT 0
#endif

#if TDL_CVT && !defined(TDL_EMULATED) /* which brings its own */
TDL_INLINE float tdl_cvt_f32_f16(uint16_t h)
{
	float f;
	asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
	return f;
}

TDL_INLINE uint16_t tdl_cvt_f16_f32(float f)
{
	uint16_t h;
	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
	return h;
}

#if TDL_CVT >= 800
TDL_INLINE uint16_t tdl_cvt_bf16_f32(float f)
{
	uint16_t h;
	asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(f));
	return h;
}
#endif

/* Of two at a time the lower one is f; what is too large becomes the largest
 * number. */
#if TDL_CVT >= 890
TDL_INLINE uint16_t tdl_cvt_e4m3x2_f32(float f)
{
	uint16_t h;
	asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
	    : "=h"(h) : "f"(0.0f), "f"(f));
	return h;
}

TDL_INLINE uint16_t tdl_cvt_e5m2x2_f32(float f)
{
	uint16_t h;
	asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;"
	    : "=h"(h) : "f"(0.0f), "f"(f));
	return h;
}

TDL_INLINE uint32_t tdl_cvt_f16x2_e4m3x2(uint16_t h)
{
	uint32_t two;
	asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(two) : "h"(h));
	return two;
}
#endif
#endif

/* Stored in 16 or 8 bits; to nearest even. */
TDL_INLINE float tdl_from_bf16(uint16_t h)
{
	return tdl_float_of_bits((uint32_t)h << 16);
}

#if TDL_CVT >= 800
TDL_INLINE uint16_t tdl_to_bf16(float f)
{
	return tdl_cvt_bf16_f32(f);
}
#else
TDL_INLINE uint16_t tdl_to_bf16(float f)
{
	const uint32_t bits = tdl_bits_of_float(f);
	if (f != f)
		return (uint16_t)(bits >> 16 & 0x8000) | 0x7fc0;
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
#endif

#if TDL_CVT
TDL_INLINE float tdl_from_f16(uint16_t h)
{
	return tdl_cvt_f32_f16(h);
}

TDL_INLINE uint16_t tdl_to_f16(float f)
{
	return tdl_cvt_f16_f32(f);
}
#else
TDL_INLINE float tdl_from_f16(uint16_t h)
{
	const uint32_t sign = (uint32_t)(h & 0x8000) << 16;
	const uint32_t rest = h & 0x7fff;
	/* A normal number has its exponent moved, in the float's terms; the
	 * product with 2^112 does that for subnormal ones too. */
	const float f =
		tdl_float_of_bits(rest << 13) * tdl_float_of_bits(0x77800000);
	const uint32_t bits =
		rest >= 0x7c00 ? 0x7f800000 | rest << 13 : tdl_bits_of_float(f);
	return tdl_float_of_bits(sign | bits);
}

TDL_INLINE uint16_t tdl_to_f16(float f)
{
	const uint32_t bits = tdl_bits_of_float(f);
	const uint32_t sign = bits >> 16 & 0x8000;
	const uint32_t abs = bits & 0x7fffffff;
	uint32_t h;
	if (abs > 0x7f800000) /* not a number */
		h = 0x7e00;
	else if (abs >= 0x477ff000) /* rounds to infinity */
		h = 0x7c00;
	else if (abs < 0x38800000) /* subnormal: in units of 2^-24 */
		h = tdl_bits_of_float(tdl_float_of_bits(abs) + 0.5f) -
		    0x3f000000;
	else
		h = (abs - 0x38000000 + 0xfff + (abs >> 13 & 1)) >> 13;
	return (uint16_t)(sign | h);
}
#endif

/* Floats of 8 bits and less, by the bits of their exponent and mantissa and
 * the exponent's bias.  Codes without the sign up to `largest` are finite
 * numbers, the next one is infinite where there is an infinity; uz: the code
 * of -0 is NaN. */
TDL_INLINE float tdl_decode(uint32_t h, int exponent, int mantissa, int bias,
			       uint32_t largest, bool infinity, bool uz)
{
	const int width = exponent + mantissa;
	const uint32_t sign = (h >> width & 1) << 31;
	const uint32_t rest = h & ((1u << width) - 1);
	const float f = tdl_float_of_bits(rest << (23 - mantissa)) *
			tdl_float_of_bits((uint32_t)(254 - bias) << 23);
	uint32_t bits = tdl_bits_of_float(f);
	if (rest > largest)
		bits = infinity && rest == largest + 1 ? 0x7f800000
						       : 0x7fc00000;
	if (uz && rest == 0 && sign)
		bits = 0x7fc00000;
	return tdl_float_of_bits(sign | bits);
}

/* Values beyond the largest become `over', NaN `nan' or, if that is 0, 0. */
TDL_INLINE uint8_t tdl_encode(float f, int exponent, int mantissa, int bias,
				 uint32_t largest, uint32_t over, uint32_t nan,
				 bool uz)
{
	const uint32_t bits = tdl_bits_of_float(f);
	const uint32_t sign = bits >> 31 << (exponent + mantissa);
	const uint32_t abs = bits & 0x7fffffff;
	/* Subnormal numbers are counted in units of the last place. */
	const float unit =
		tdl_float_of_bits((uint32_t)(151 - bias - mantissa) << 23);
	uint32_t h;
	if (abs > 0x7f800000)
		return (uint8_t)(nan ? sign | nan : 0);
	if (abs < (uint32_t)(128 - bias) << 23)
		h = tdl_bits_of_float(tdl_float_of_bits(abs) + unit) -
		    tdl_bits_of_float(unit);
	else
		h = (abs - ((uint32_t)(127 - bias) << 23) +
		     (1u << (22 - mantissa)) - 1 +
		     (abs >> (23 - mantissa) & 1)) >>
		    (23 - mantissa);
	if (uz && h == 0)
		return 0;
	return (uint8_t)(sign | (h > largest ? over : h));
}

#define TDL_SMALL_FLOAT(T, E, M, BIAS, LARGEST, OVER, NAN_CODE, UZ)        \
	TDL_INLINE float tdl_from_##T(uint8_t h)                        \
	{                                                                  \
		return tdl_decode(h, E, M, BIAS, LARGEST,                  \
				  (OVER) > (LARGEST) && (OVER) != (NAN_CODE), \
				  UZ);                                     \
	}                                                                  \
	TDL_INLINE uint8_t tdl_to_##T(float f)                          \
	{                                                                  \
		return tdl_encode(f, E, M, BIAS, LARGEST, OVER, NAN_CODE,  \
				  UZ);                                     \
	}

#if TDL_CVT >= 890
TDL_INLINE float tdl_from_f8e4m3fn(uint8_t h)
{
	return tdl_cvt_f32_f16((uint16_t)tdl_cvt_f16x2_e4m3x2(h));
}

/* Numbers nearer to the one behind the largest than to that, 448 here, are out
 * of range; the one in the middle has an even neighbour inside. */
TDL_INLINE uint8_t tdl_to_f8e4m3fn(float f)
{
	if (fabsf(f) > 464)
		return (uint8_t)(tdl_bits_of_float(f) >> 24 & 0x80) | 0x7f;
	return (uint8_t)tdl_cvt_e4m3x2_f32(f);
}

/* The upper half of an f16. */
TDL_INLINE float tdl_from_f8e5m2(uint8_t h)
{
	return tdl_cvt_f32_f16((uint16_t)(h << 8));
}

/* The largest is 57344; the number in the middle is infinite. */
TDL_INLINE uint8_t tdl_to_f8e5m2(float f)
{
	if (fabsf(f) >= 61440)
		return (uint8_t)(tdl_bits_of_float(f) >> 24 & 0x80) | 0x7c;
	return (uint8_t)tdl_cvt_e5m2x2_f32(f);
}
#else
TDL_SMALL_FLOAT(f8e4m3fn, 4, 3, 7, 0x7e, 0x7f, 0x7f, false)
TDL_SMALL_FLOAT(f8e5m2, 5, 2, 15, 0x7b, 0x7c, 0x7e, false)
#endif
TDL_SMALL_FLOAT(f8e4m3fnuz, 4, 3, 8, 0x7f, 0x80, 0x80, true)
TDL_SMALL_FLOAT(f8e5m2fnuz, 5, 2, 16, 0x7f, 0x80, 0x80, true)
TDL_SMALL_FLOAT(f6e2m3, 2, 3, 1, 0x1f, 0x1f, 0, false)
TDL_SMALL_FLOAT(f6e3m2, 3, 2, 3, 0x1f, 0x1f, 0, false)
TDL_SMALL_FLOAT(f4e2m1, 2, 1, 1, 0x7, 0x7, 0, false)

/* Powers of two; 255 is NaN, 0 and negative numbers become that. */
TDL_INLINE float tdl_from_f8e8m0(uint8_t h)
{
	return tdl_float_of_bits(h == 255 ? 0x7fc00000
				 : h	  ? (uint32_t)h << 23
					  : 0x00400000);
}

/* To the nearest, the greater one of two. */
TDL_INLINE uint8_t tdl_to_f8e8m0(float f)
{
	const uint32_t bits = tdl_bits_of_float(f);
	if (!(f > 0))
		return 255;
	if (bits < 0x00800000)
		return bits >= 0x00600000;
	return bits >= 0x7f400000 ? 255 : (uint8_t)((bits + 0x400000) >> 23);
}

/* ---- random numbers ---------------------------------------------------- */

/* Number n of a seed's stream, of 32 bits: word n % 4 of Philox4x32-10 with
 * the seed as its key and n / 4 as its counter (Salmon and others, SC'11). */
TDL_INLINE int64_t tdl_random(int64_t seed, int64_t n)
{
	uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)((uint64_t)seed >> 32);
	uint32_t x0 = (uint32_t)((uint64_t)n >> 2);
	uint32_t x1 = (uint32_t)((uint64_t)n >> 34), x2 = 0, x3 = 0;
	for (int i = 0; i < 10; i++) {
		const uint64_t a = (uint64_t)x0 * 0xd2511f53;
		const uint64_t b = (uint64_t)x2 * 0xcd9e8d57;
		x0 = (uint32_t)(b >> 32) ^ x1 ^ k0;
		x1 = (uint32_t)b;
		x2 = (uint32_t)(a >> 32) ^ x3 ^ k1;
		x3 = (uint32_t)a;
		k0 += 0x9e3779b9;
		k1 += 0xbb67ae85;
	}
	const uint32_t low = n & 1 ? x1 : x0, high = n & 1 ? x3 : x2;
	return n & 2 ? high : low;
}

/* ---- functions of floats ----------------------------------------------- */

/* min and max keep a NaN and take b of equals, in one choice: of two, one after
 * the other, gcc makes vectors with a choice for each combination.  mod has the
 * sign of the divisor. */
#define TDL_FLOAT_FUNCTIONS(T, S, M)                                      \
	TDL_INLINE T tdl_min_##S(T a, T b)                             \
	{                                                                 \
		return (!(a >= b) & (b == b)) ? a : b;                  \
	}                                                                 \
	TDL_INLINE T tdl_max_##S(T a, T b)                             \
	{                                                                 \
		return (!(a <= b) & (b == b)) ? a : b;                  \
	}                                                                 \
	TDL_INLINE T tdl_sign_##S(T x)                                 \
	{                                                                 \
		return x != x ? x : (T)((x > 0) - (x < 0));               \
	}                                                                 \
	TDL_INLINE T tdl_mod_##S(T a, T b)                             \
	{                                                                 \
		const T m = fmod##M(a, b);                                \
		if (m == 0)                                               \
			return copysign##M(m, b);                         \
		return (m < 0) != (b < 0) ? m + b : m;                    \
	}

TDL_FLOAT_FUNCTIONS(float, f32, f)
TDL_FLOAT_FUNCTIONS(double, f64, )

/* Those of floats are in tdl/functions.h. */
TDL_INLINE double tdl_sigmoid_f64(double x)
{
	return 1 / (1 + exp(-x));
}

TDL_INLINE double tdl_softplus_f64(double x)
{
	return tdl_max_f64(x, 0) + log1p(exp(-fabs(x)));
}

/* sin(pi x): the argument is reduced to -1/2 to 1/2 and a sign, exactly. */
TDL_INLINE double tdl_sinpi_f64(double x)
{
	return sin(3.14159265358979323846 * remainder(x, 1.0)) *
	       (1 - 2 * fabs(remainder(nearbyint(x), 2.0)));
}

#endif
