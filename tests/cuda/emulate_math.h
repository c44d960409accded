/* The functions on bits, integers and floats that CUDA C++ has built in: a part
 * of tests/cuda/emulate.h, which includes it. */
#ifndef TDL_TESTS_CUDA_EMULATE_MATH_H
#define TDL_TESTS_CUDA_EMULATE_MATH_H

/* ---- bits and integers --------------------------------------------------- */

template <class To, class From> static inline To emu_cast(From x)
{
	static_assert(sizeof(To) == sizeof(From), "the same bits");
	To y;
	__builtin_memcpy(&y, &x, sizeof y);
	return y;
}

#define EMU_FUNCTION(T, name, args, e)                                        \
	static inline T name args                                             \
	{                                                                     \
		return e;                                                     \
	}
EMU_FUNCTION(int, __float_as_int, (float x), (emu_cast<int>(x)))
EMU_FUNCTION(unsigned, __float_as_uint, (float x), (emu_cast<unsigned>(x)))
EMU_FUNCTION(float, __int_as_float, (int x), (emu_cast<float>(x)))
EMU_FUNCTION(float, __uint_as_float, (unsigned x), (emu_cast<float>(x)))
EMU_FUNCTION(long long, __double_as_longlong, (double x),
	     (emu_cast<long long>(x)))
EMU_FUNCTION(double, __longlong_as_double, (long long x),
	     (emu_cast<double>(x)))
EMU_FUNCTION(int, __popc, (unsigned x), __builtin_popcount(x))
EMU_FUNCTION(int, __popcll, (emu_ull x), __builtin_popcountll(x))
EMU_FUNCTION(int, __clz, (int x), x ? __builtin_clz((unsigned)x) : 32)
EMU_FUNCTION(int, __clzll, (long long x), x ? __builtin_clzll((emu_ull)x) : 64)
EMU_FUNCTION(int, __ffs, (int x), __builtin_ffs(x))
EMU_FUNCTION(int, __ffsll, (long long x), __builtin_ffsll(x))
EMU_FUNCTION(int, __mulhi, (int a, int b), (int)(((long long)a * b) >> 32))
EMU_FUNCTION(unsigned, __umulhi, (unsigned a, unsigned b),
	     (unsigned)(((emu_ull)a * b) >> 32))
EMU_FUNCTION(long long, __mul64hi, (long long a, long long b),
	     (long long)(((__int128)a * b) >> 64))
EMU_FUNCTION(emu_ull, __umul64hi, (emu_ull a, emu_ull b),
	     (emu_ull)(((unsigned __int128)a * b) >> 64))
EMU_FUNCTION(unsigned, __funnelshift_l, (unsigned lo, unsigned hi, unsigned n),
	     (unsigned)((((emu_ull)hi << 32 | lo) << (n & 31)) >> 32))
EMU_FUNCTION(unsigned, __funnelshift_r, (unsigned lo, unsigned hi, unsigned n),
	     (unsigned)(((emu_ull)hi << 32 | lo) >> (n & 31)))

static inline unsigned __brev(unsigned x)
{
	unsigned y = 0;
	for (int i = 0; i < 32; i++, x >>= 1)
		y = y << 1 | (x & 1);
	return y;
}

static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
	const emu_ull bytes = (emu_ull)b << 32 | a;
	unsigned y = 0;
	for (int i = 0; i < 4; i++, s >>= 4) {
		const unsigned byte = bytes >> (s & 7) * 8 & 255;
		y |= (s & 8 ? (byte & 128 ? 255 : 0) : byte) << i * 8;
	}
	return y;
}

#define EMU_MIN_MAX(T, A, B)                                                  \
	EMU_FUNCTION(T, min, (A a, B b), (T)a < (T)b ? (T)a : (T)b)           \
	EMU_FUNCTION(T, max, (A a, B b), (T)a < (T)b ? (T)b : (T)a)
EMU_MIN_MAX(int, int, int)
EMU_MIN_MAX(unsigned, unsigned, unsigned)
EMU_MIN_MAX(unsigned, int, unsigned)
EMU_MIN_MAX(unsigned, unsigned, int)
EMU_MIN_MAX(long, long, long)
EMU_MIN_MAX(unsigned long, unsigned long, unsigned long)
EMU_MIN_MAX(unsigned long, long, unsigned long)
EMU_MIN_MAX(unsigned long, unsigned long, long)
EMU_MIN_MAX(long long, long long, long long)
EMU_MIN_MAX(emu_ull, emu_ull, emu_ull)
EMU_MIN_MAX(emu_ull, long long, emu_ull)
EMU_MIN_MAX(emu_ull, emu_ull, long long)

/* ---- mathematics --------------------------------------------------------- */

/* name() of double, namef() of float, and name() of both, as C++ has it. */
#define EMU_MATH_1(name)                                                      \
	extern "C" double name(double) noexcept;                              \
	extern "C" float name##f(float) noexcept;                             \
	EMU_FUNCTION(float, name, (float x), __builtin_##name##f(x))
#define EMU_MATH_2(name)                                                      \
	extern "C" double name(double, double) noexcept;                      \
	extern "C" float name##f(float, float) noexcept;                      \
	EMU_FUNCTION(float, name, (float x, float y),                         \
		     __builtin_##name##f(x, y))
EMU_MATH_1(acos)
EMU_MATH_1(acosh)
EMU_MATH_1(asin)
EMU_MATH_1(asinh)
EMU_MATH_1(atan)
EMU_MATH_1(atanh)
EMU_MATH_1(cbrt)
EMU_MATH_1(ceil)
EMU_MATH_1(cos)
EMU_MATH_1(cosh)
EMU_MATH_1(erf)
EMU_MATH_1(erfc)
EMU_MATH_1(exp)
EMU_MATH_1(exp2)
EMU_MATH_1(expm1)
EMU_MATH_1(fabs)
EMU_MATH_1(floor)
EMU_MATH_1(lgamma)
EMU_MATH_1(log)
EMU_MATH_1(log10)
EMU_MATH_1(log1p)
EMU_MATH_1(log2)
EMU_MATH_1(nearbyint)
EMU_MATH_1(rint)
EMU_MATH_1(round)
EMU_MATH_1(sin)
EMU_MATH_1(sinh)
EMU_MATH_1(sqrt)
EMU_MATH_1(tan)
EMU_MATH_1(tanh)
EMU_MATH_1(tgamma)
EMU_MATH_1(trunc)
EMU_MATH_2(atan2)
EMU_MATH_2(copysign)
EMU_MATH_2(fdim)
EMU_MATH_2(fmax)
EMU_MATH_2(fmin)
EMU_MATH_2(fmod)
EMU_MATH_2(hypot)
EMU_MATH_2(nextafter)
EMU_MATH_2(pow)
EMU_MATH_2(remainder)

extern "C" {
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept;
double frexp(double, int *) noexcept;
float frexpf(float, int *) noexcept;
double modf(double, double *) noexcept;
float modff(float, float *) noexcept;
double scalbn(double, int) noexcept;
float scalbnf(float, int) noexcept;
int ilogb(double) noexcept;
int ilogbf(float) noexcept;
long lrint(double) noexcept;
long lrintf(float) noexcept;
long lround(double) noexcept;
long lroundf(float) noexcept;
long long llrint(double) noexcept;
long long llrintf(float) noexcept;
int abs(int) noexcept;
long labs(long) noexcept;
long long llabs(long long) noexcept;
}
EMU_FUNCTION(float, fma, (float a, float b, float c), __builtin_fmaf(a, b, c))
EMU_FUNCTION(float, ldexp, (float x, int n), ldexpf(x, n))
EMU_FUNCTION(long, abs, (long x), labs(x))
EMU_FUNCTION(long long, abs, (long long x), llabs(x))
EMU_FUNCTION(float, abs, (float x), __builtin_fabsf(x))
EMU_FUNCTION(double, abs, (double x), __builtin_fabs(x))
EMU_FUNCTION(float, min, (float a, float b), __builtin_fminf(a, b))
EMU_FUNCTION(float, max, (float a, float b), __builtin_fmaxf(a, b))
EMU_FUNCTION(double, min, (double a, double b), __builtin_fmin(a, b))
EMU_FUNCTION(double, max, (double a, double b), __builtin_fmax(a, b))
EMU_FUNCTION(double, min, (float a, double b), __builtin_fmin(a, b))
EMU_FUNCTION(double, max, (float a, double b), __builtin_fmax(a, b))
EMU_FUNCTION(double, min, (double a, float b), __builtin_fmin(a, b))
EMU_FUNCTION(double, max, (double a, float b), __builtin_fmax(a, b))

#define EMU_CLASS(f)                                                          \
	EMU_FUNCTION(bool, f, (float x), __builtin_##f(x))                    \
	EMU_FUNCTION(bool, f, (double x), __builtin_##f(x))
EMU_CLASS(isnan)
EMU_CLASS(isinf)
EMU_CLASS(isfinite)
EMU_CLASS(signbit)

#define EMU_1(f, e) EMU_FUNCTION(float, f, (float x), e)
#define EMU_1D(f, e) EMU_FUNCTION(double, f, (double x), e)
#define EMU_2(f, e) EMU_FUNCTION(float, f, (float x, float y), e)
#define EMU_2D(f, e) EMU_FUNCTION(double, f, (double x, double y), e)
EMU_1(rsqrtf, 1 / __builtin_sqrtf(x))
EMU_1(rsqrt, 1 / __builtin_sqrtf(x))
EMU_1D(rsqrt, 1 / __builtin_sqrt(x))
EMU_1(exp10f, __builtin_powf(10, x))
EMU_1D(exp10, __builtin_pow(10, x))
EMU_1(normcdff, 0.5f * __builtin_erfcf(x * -0.707106781f))
EMU_1(sinpif, __builtin_sinf(x * 3.14159265f))
EMU_1(cospif, __builtin_cosf(x * 3.14159265f))
EMU_1(__saturatef, x > 0 ? (x < 1 ? x : 1) : 0)
EMU_1(__expf, __builtin_expf(x))
EMU_1(__exp10f, exp10f(x))
EMU_1(__logf, __builtin_logf(x))
EMU_1(__log2f, __builtin_log2f(x))
EMU_1(__log10f, __builtin_log10f(x))
EMU_1(__sinf, __builtin_sinf(x))
EMU_1(__cosf, __builtin_cosf(x))
EMU_1(__tanf, __builtin_tanf(x))
EMU_1(__frcp_rn, 1 / x)
EMU_1(__fsqrt_rn, __builtin_sqrtf(x))
EMU_1(__frsqrt_rn, 1 / __builtin_sqrtf(x))
EMU_1D(__drcp_rn, 1 / x)
EMU_1D(__dsqrt_rn, __builtin_sqrt(x))
EMU_2(__powf, __builtin_powf(x, y))
EMU_2(__fdividef, x / y)
EMU_2(fdividef, x / y)
EMU_2(__fadd_rn, x + y)
EMU_2(__fsub_rn, x - y)
EMU_2(__fmul_rn, x *y)
EMU_2(__fdiv_rn, x / y)
EMU_2D(__dadd_rn, x + y)
EMU_2D(__dsub_rn, x - y)
EMU_2D(__dmul_rn, x *y)
EMU_2D(__ddiv_rn, x / y)
EMU_FUNCTION(float, __fmaf_rn, (float a, float b, float c),
	     __builtin_fmaf(a, b, c))
EMU_FUNCTION(double, __fma_rn, (double a, double b, double c),
	     __builtin_fma(a, b, c))

/* Conversions saturate, and NaN becomes 0, which C leaves undefined. */
template <class T, class F> static inline T emu_saturated(F x)
{
	const T lowest = (T)-1 < 0 ? (T)((emu_ull)1 << (sizeof(T) * 8 - 1)) : 0;
	const T highest = (T)~(emu_ull)lowest;
	if (x != x)
		return sizeof(T) == 8 ? (T)((emu_ull)1 << 63) : 0;
	if (x < (F)lowest)
		return lowest;
	return x >= (F)highest ? highest : (T)x;
}

#define EMU_CONVERT(name, F, T)                                               \
	EMU_FUNCTION(T, name##_rz, (F x), emu_saturated<T>(trunc(x)))         \
	EMU_FUNCTION(T, name##_rn, (F x), emu_saturated<T>(rint(x)))          \
	EMU_FUNCTION(T, name##_rd, (F x), emu_saturated<T>(floor(x)))         \
	EMU_FUNCTION(T, name##_ru, (F x), emu_saturated<T>(ceil(x)))
EMU_CONVERT(__float2int, float, int)
EMU_CONVERT(__float2uint, float, unsigned)
EMU_CONVERT(__float2ll, float, long long)
EMU_CONVERT(__float2ull, float, emu_ull)
EMU_CONVERT(__double2int, double, int)
EMU_CONVERT(__double2uint, double, unsigned)
EMU_CONVERT(__double2ll, double, long long)
EMU_CONVERT(__double2ull, double, emu_ull)
EMU_FUNCTION(float, __int2float_rn, (int x), (float)x)
EMU_FUNCTION(float, __uint2float_rn, (unsigned x), (float)x)
EMU_FUNCTION(float, __ll2float_rn, (long long x), (float)x)
EMU_FUNCTION(float, __ull2float_rn, (emu_ull x), (float)x)
EMU_FUNCTION(float, __double2float_rn, (double x), (float)x)

#include "emulate_cvt.h"

#endif
