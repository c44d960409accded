/* The built-in part of CUDA C++, for the host's C++ compiler, so that the text
 * of kernels runs on a machine without a GPU: emulate.sh compiles a text behind
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
/* A copy of 16 bytes to shared memory, that is done at a barrier after
 * emu_wait() for the group that ends with emu_group(). */
void emu_copy(int line, void *to, const void *from);
/* Checks that a row of 16 bytes of shared memory can be loaded. */
void emu_row(int line, const void *row);
void emu_group();
void emu_wait();
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

#include "emulate_math.h"
#include "emulate_mma.h"

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
