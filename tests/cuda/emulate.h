/* What CUDA C++ has built in, for the host's C++ compiler, so that the text of
 * kernels runs on a machine without a GPU: emulate.sh compiles a text behind
 * this header, emulate.c runs its blocks.
 *
 * Nothing is here that NVRTC does not have without an #include, so that a text
 * that compiles here for lack of a check does so rarely, and no header of the
 * host is included, so that a text may define int64_t and the like itself.
 * There is no inline assembly: a text has an alternative to it where
 * TDL_EMULATED is defined.
 *
 * Threads of a block are fibers of one thread of the host, which go from one
 * barrier or exchange to the next; what is atomic on a GPU is plain here.
 * emulate.c says what is found wrong. */
#ifndef TDL_TESTS_CUDA_EMULATE_H
#define TDL_TESTS_CUDA_EMULATE_H

#define TDL_EMULATED 1
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif

/* __global__, __shared__ and __device__ are left to emulate.sh. */
#define __host__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((__always_inline__))
#define __noinline__ __attribute__((__noinline__))
#define __align__(n) __attribute__((__aligned__(n)))
#define __launch_bounds__(...)
#define __builtin_assume(x) ((void)0)
#define __builtin_align__(n) __attribute__((__aligned__(n)))

typedef decltype(sizeof 0) size_t;

/* ---- vectors ------------------------------------------------------------- */

#define EMU_VECTORS(name, T, align2, align4)                                  \
	struct name##1 {                                                      \
		T x;                                                          \
	};                                                                    \
	struct __align__(align2) name##2 {                                    \
		T x, y;                                                       \
	};                                                                    \
	struct name##3 {                                                      \
		T x, y, z;                                                    \
	};                                                                    \
	struct __align__(align4) name##4 {                                    \
		T x, y, z, w;                                                 \
	};                                                                    \
	static inline name##1 make_##name##1(T x)                             \
	{                                                                     \
		return {x};                                                   \
	}                                                                     \
	static inline name##2 make_##name##2(T x, T y)                        \
	{                                                                     \
		return {x, y};                                                \
	}                                                                     \
	static inline name##3 make_##name##3(T x, T y, T z)                   \
	{                                                                     \
		return {x, y, z};                                             \
	}                                                                     \
	static inline name##4 make_##name##4(T x, T y, T z, T w)              \
	{                                                                     \
		return {x, y, z, w};                                          \
	}

EMU_VECTORS(char, signed char, 2, 4)
EMU_VECTORS(uchar, unsigned char, 2, 4)
EMU_VECTORS(short, short, 4, 8)
EMU_VECTORS(ushort, unsigned short, 4, 8)
EMU_VECTORS(int, int, 8, 16)
EMU_VECTORS(uint, unsigned, 8, 16)
EMU_VECTORS(long, long, 16, 16)
EMU_VECTORS(ulong, unsigned long, 16, 16)
EMU_VECTORS(longlong, long long, 16, 16)
EMU_VECTORS(ulonglong, unsigned long long, 16, 16)
EMU_VECTORS(float, float, 8, 16)
EMU_VECTORS(double, double, 16, 16)

struct dim3 {
	unsigned x, y, z;
	constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1)
		: x(a), y(b), z(c)
	{
	}
	constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
	{
	}
};

/* ---- the engine, emulate.c ----------------------------------------------- */

struct emu_kernel { /* as in emulate.c */
	const char *name;
	int nparams;
	const size_t *sizes; /* of the parameters, in bytes */
	void (*call)(void **params);
};

extern "C" {
#pragma GCC visibility push(hidden)
/* Of the thread that runs; read only. */
extern uint3 threadIdx, blockIdx, blockDim, gridDim;
/* A block's dynamic shared memory. */
extern unsigned char emu_dynamic[] __align__(128);
/* A barrier of the block; returns how many have a predicate that holds. */
int emu_barrier(int line, int predicate);
/* An exchange among the lanes of `mask`: each gives a value, and gets that of
 * lane `from`; without one (-1) the ballot of the values that are not 0. */
unsigned long long emu_exchange(int line, unsigned mask, int from,
				unsigned long long value);
[[noreturn]] void emu_trap(int line, const char *why);
#pragma GCC visibility pop

int printf(const char *, ...) __attribute__((__format__(printf, 1, 2)));
void *memcpy(void *, const void *, size_t) noexcept;
void *memset(void *, int, size_t) noexcept;
}

static const int warpSize = 32;

#define __syncthreads() ((void)emu_barrier(__LINE__, 0))
#define __syncthreads_count(p) emu_barrier(__LINE__, !!(p))
#define __syncthreads_or(p) (emu_barrier(__LINE__, !!(p)) != 0)
#define __syncthreads_and(p) (emu_barrier(__LINE__, !(p)) == 0)
#define __trap() emu_trap(__LINE__, "a trap")
#define assert(x) ((x) ? (void)0 : emu_trap(__LINE__, "assert(" #x ")"))
static inline void __threadfence()
{
}
static inline void __threadfence_block()
{
}
static inline void __threadfence_system()
{
}
static inline void __nanosleep(unsigned)
{
}

/* ---- warps --------------------------------------------------------------- */

template <class T> struct emu_bits {
	static_assert(sizeof(T) == 4 || sizeof(T) == 8,
		      "shuffles take values of 4 or 8 bytes");
	static unsigned long long of(T x)
	{
		unsigned long long bits = 0;
		__builtin_memcpy(&bits, &x, sizeof x);
		return bits;
	}
	static T to(unsigned long long bits)
	{
		T x;
		__builtin_memcpy(&x, &bits, sizeof x);
		return x;
	}
};

/* Small integers become int, as in C. */
template <class T> struct emu_promoted {
	typedef decltype(+T()) type;
};

static inline int emu_lane()
{
	return (int)((threadIdx.x + blockDim.x * (threadIdx.y
			+ blockDim.y * threadIdx.z)) & 31);
}

template <class V>
static inline typename emu_promoted<V>::type
emu_shuffle(int line, unsigned mask, V v, int from)
{
	typedef typename emu_promoted<V>::type T;
	return emu_bits<T>::to(
		emu_exchange(line, mask, from, emu_bits<T>::of((T)v)));
}

/* The lanes that a lane reads; out of its segment of `width` lanes, itself. */
static inline int emu_from(int lane, int segment, int width)
{
	return lane >= segment && lane < segment + width ? lane : emu_lane();
}

static inline int emu_segment(int width)
{
	return emu_lane() & ~(width - 1);
}

template <class V>
static inline auto emu_shfl(int line, unsigned mask, V v, int src, int w = 32)
{
	return emu_shuffle(line, mask, v, emu_segment(w) + (src & (w - 1)));
}

template <class V>
static inline auto emu_shfl_up(int line, unsigned mask, V v, unsigned d,
			       int w = 32)
{
	return emu_shuffle(line, mask, v,
			   emu_from(emu_lane() - (int)d, emu_segment(w), w));
}

template <class V>
static inline auto emu_shfl_down(int line, unsigned mask, V v, unsigned d,
				 int w = 32)
{
	return emu_shuffle(line, mask, v,
			   emu_from(emu_lane() + (int)d, emu_segment(w), w));
}

/* Across segments, a lane may read one that is before its own. */
template <class V>
static inline auto emu_shfl_xor(int line, unsigned mask, V v, int x, int w = 32)
{
	const int from = emu_lane() ^ x;
	return emu_shuffle(line, mask, v,
			   from < emu_segment(w) + w ? from : emu_lane());
}

#define __shfl_sync(...) emu_shfl(__LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) emu_shfl_up(__LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) emu_shfl_down(__LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) emu_shfl_xor(__LINE__, __VA_ARGS__)

static inline unsigned emu_ballot(int line, unsigned mask, bool p)
{
	return (unsigned)emu_exchange(line, mask, -1, p);
}

static inline void emu_syncwarp(int line, unsigned mask = 0xffffffff)
{
	emu_exchange(line, mask, -1, 0);
}

#define __ballot_sync(mask, p) emu_ballot(__LINE__, mask, !!(p))
#define __any_sync(mask, p) (__ballot_sync(mask, p) != 0)
#define __all_sync(mask, p) (__ballot_sync(mask, !(p)) == 0)
#define __syncwarp(...) emu_syncwarp(__LINE__, ##__VA_ARGS__)

template <class T, class F>
static inline T emu_reduce(int line, unsigned mask, T v, F f)
{
	T all = v;
	bool first = true;
	for (int i = 0; i < 32; i++)
		if (mask >> i & 1) {
			const T x = emu_shuffle(line, mask, v, i);
			all = first ? x : f(all, x);
			first = false;
		}
	return all;
}

#define EMU_REDUCE(mask, v, e)                                                \
	emu_reduce(__LINE__, mask, v, [](auto a, auto b) { return e; })
#define __reduce_add_sync(mask, v) EMU_REDUCE(mask, v, a + b)
#define __reduce_min_sync(mask, v) EMU_REDUCE(mask, v, a < b ? a : b)
#define __reduce_max_sync(mask, v) EMU_REDUCE(mask, v, a < b ? b : a)
#define __reduce_and_sync(mask, v) EMU_REDUCE(mask, (unsigned)(v), a & b)
#define __reduce_or_sync(mask, v) EMU_REDUCE(mask, (unsigned)(v), a | b)
#define __reduce_xor_sync(mask, v) EMU_REDUCE(mask, (unsigned)(v), a ^ b)

/* ---- memory -------------------------------------------------------------- */

template <class T> static inline T __ldg(const T *p)
{
	return *p;
}
template <class T> static inline T __ldcg(const T *p)
{
	return *p;
}
template <class T> static inline T __ldcs(const T *p)
{
	return *p;
}
template <class T> static inline void __stcg(T *p, T x)
{
	*p = x;
}
template <class T> static inline void __stcs(T *p, T x)
{
	*p = x;
}

typedef unsigned long long emu_ull;

#define EMU_ATOMIC(name, T, e)                                                \
	static inline T name(T *p, T v)                                       \
	{                                                                     \
		const T old = *p;                                             \
		*p = (T)(e);                                                  \
		return old;                                                   \
	}
EMU_ATOMIC(atomicAdd, int, (unsigned)old + (unsigned)v)
EMU_ATOMIC(atomicAdd, unsigned, old + v)
EMU_ATOMIC(atomicAdd, emu_ull, old + v)
EMU_ATOMIC(atomicAdd, float, old + v)
EMU_ATOMIC(atomicAdd, double, old + v)
EMU_ATOMIC(atomicSub, int, (unsigned)old - (unsigned)v)
EMU_ATOMIC(atomicSub, unsigned, old - v)
EMU_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
EMU_ATOMIC(atomicDec, unsigned, old == 0 || old > v ? v : old - 1)
EMU_ATOMIC(atomicExch, int, v)
EMU_ATOMIC(atomicExch, unsigned, v)
EMU_ATOMIC(atomicExch, emu_ull, v)
EMU_ATOMIC(atomicExch, float, v)
#define EMU_ATOMIC_INTEGERS(name, e)                                          \
	EMU_ATOMIC(name, int, e)                                              \
	EMU_ATOMIC(name, unsigned, e)                                         \
	EMU_ATOMIC(name, long long, e)                                        \
	EMU_ATOMIC(name, emu_ull, e)
EMU_ATOMIC_INTEGERS(atomicMin, v < old ? v : old)
EMU_ATOMIC_INTEGERS(atomicMax, old < v ? v : old)
EMU_ATOMIC_INTEGERS(atomicAnd, old & v)
EMU_ATOMIC_INTEGERS(atomicOr, old | v)
EMU_ATOMIC_INTEGERS(atomicXor, old ^ v)

#define EMU_ATOMIC_CAS(T)                                                     \
	static inline T atomicCAS(T *p, T expected, T v)                      \
	{                                                                     \
		const T old = *p;                                             \
		if (old == expected)                                          \
			*p = v;                                               \
		return old;                                                   \
	}
EMU_ATOMIC_CAS(int)
EMU_ATOMIC_CAS(unsigned)
EMU_ATOMIC_CAS(emu_ull)
EMU_ATOMIC_CAS(unsigned short)

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

/* ---- the table of kernels, which emulate.sh appends ---------------------- */

template <unsigned... I> struct emu_indices {
};
template <unsigned N, unsigned... I>
struct emu_count : emu_count<N - 1, N - 1, I...> {
};
template <unsigned... I> struct emu_count<0, I...> {
	typedef emu_indices<I...> type;
};

template <class F, F f> struct emu_caller;
template <class... A, void (*f)(A...)> struct emu_caller<void (*)(A...), f> {
	static constexpr size_t sizes[sizeof...(A) + 1] = {sizeof(A)..., 0};
	template <unsigned... I>
	static void apply(void **params, emu_indices<I...>)
	{
		(void)params;
		f(*(A *)params[I]...);
	}
	static void call(void **params)
	{
		apply(params, typename emu_count<sizeof...(A)>::type());
	}
	static constexpr emu_kernel row(const char *name)
	{
		return {name, sizeof...(A), sizes, call};
	}
};

#define EMU_KERNEL(f) emu_caller<decltype(&f), f>::row(#f),

#endif
