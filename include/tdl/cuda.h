/* Goes before the text of a kernel in CUDA, which NVRTC or nvcc compiles with
 * --fmad=false, so that a product and a sum are one operation only where the
 * text says so.
 *
 * A kernel computes a part of a tensor, as in tdl/generated.h.  Its text uses
 * these macros; whoever compiles it defines them before, and may redefine them
 * for the next kernel:
 *
 *	TDL_KERNEL	the kernel's name
 *	TDL_PART(x)	names of its helpers
 *	TDL_INT		the type of indices: int64_t; or int32_t if all of
 *			these are below 2^31 - 2^20: the number of elements of
 *			the part and of terms of an element, the extents, and
 *			the strides of each tensor times the largest indices
 *	TDL_NWORDS	the number of words p.w[] in the kernel's parameter
 *	TDL_LO_v, TDL_COUNT_v	the part of the iteration space: variable v runs
 *			over TDL_COUNT_v values from TDL_LO_v
 *	TDL_IN_i, TDL_OUT	pointers to where element 0, 0, .. of the
 *			tensor is or would be
 *	TDL_IN_i_STRIDE_d, TDL_OUT_STRIDE_d	in elements; the last is 1
 *	TDL_FAULT	a tdl_fault *
 *
 * each a number, or a word such as (p.w[3]).  The result may overlap an input
 * only if it has the place of one that is read at the result's own index alone.
 *
 * A block does the items blockIdx.x, + gridDim.x, ..; the bits of the result do
 * not depend on how they are divided. */
#ifndef TDL_CUDA_H
#define TDL_CUDA_H

#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT8_MIN   (-128)
#define INT16_MIN  (-32768)
#define INT32_MIN  (-2147483647 - 1)
#define INT64_MIN  (-9223372036854775807LL - 1)
#define INT8_MAX   127
#define INT16_MAX  32767
#define INT32_MAX  2147483647
#define INT64_MAX  9223372036854775807LL
#define UINT8_MAX  255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fc00000)
#endif
#endif

#include "tdl/scalar.h"

#include "tdl/functions.h"

/* ---- bindings ---------------------------------------------------------- */

template <int n> struct tdl_words {
	int64_t w[n ? n : 1];
};
#define tdl_params tdl_words<TDL_NWORDS>

#define TDL_LO(v)	     ((TDL_INT)TDL_LO_##v)
#define TDL_COUNT(v)	     ((TDL_INT)TDL_COUNT_##v)
#define TDL_HI(v)	     (TDL_LO(v) + TDL_COUNT(v))
#define TDL_IN(i)	     TDL_IN_##i
#define TDL_IN_STRIDE(i, d)  ((TDL_INT)TDL_IN_##i##_STRIDE_##d)
#define TDL_OUT_STRIDE(d)    ((TDL_INT)TDL_OUT_STRIDE_##d)

/* A kernel with blocks of up to 256 threads; with blocks of n threads.  If only
 * the number of threads is bounded, the assembler spills registers so that more
 * blocks fit on a multiprocessor. 256 threads need no bound: each can have all
 * registers that an instruction can name. */
#define TDL_GLOBAL	 extern "C" __global__
#define TDL_GLOBAL_OF(n) TDL_GLOBAL __launch_bounds__(n, 1)

/* ---- data-dependent indices -------------------------------------------- */

/* As in tdl/generated.h; `found` is 0 or 1. */
typedef struct tdl_fault {
	int found, input, dim;
	int64_t value;
} tdl_fault;

/* Checks index i of a dimension of n elements.  Returns -1 if it is outside,
 * and notes it unless an earlier one was noted. */
TDL_INLINE int64_t tdl_index(tdl_fault *f, int input, int dim, int64_t i,
			     int64_t n)
{
	if (tdl_inside(i, n))
		return i;
	if (!atomicCAS(&f->found, 0, 1)) {
		f->input = input;
		f->dim = dim;
		f->value = i;
	}
	return -1;
}

/* ---- indices ----------------------------------------------------------- */

/* The functions of tdl/scalar.h, for the type of indices. */
template <class I> TDL_INLINE I tdl_min(I a, I b)
{
	return a < b ? a : b;
}

template <class I> TDL_INLINE I tdl_max(I a, I b)
{
	return a > b ? a : b;
}

template <class I> TDL_INLINE I tdl_div(I a, I b)
{
	return a / b - (a % b < 0);
}

template <class I> TDL_INLINE I tdl_mod(I a, I b)
{
	const I m = a % b;
	return m < 0 ? m + b : m;
}

template <class I> TDL_INLINE I tdl_ceil_div(I a, I b)
{
	return (a + b - 1) / b;
}

template <class I, class N> TDL_INLINE bool tdl_inside(I i, N n)
{
	return sizeof(I) == 4 && sizeof(N) == 4
		       ? (uint32_t)i < (uint32_t)n
		       : (uint64_t)(int64_t)i < (uint64_t)(int64_t)n;
}

/* Removes the last digit of a number to the base n and returns it; 0 <= at. */
TDL_INLINE int32_t tdl_digit(int32_t &at, int32_t n)
{
	const uint32_t all = (uint32_t)at, left = all / (uint32_t)n;
	at = (int32_t)left;
	return (int32_t)(all - left * (uint32_t)n);
}

TDL_INLINE int64_t tdl_digit(int64_t &at, int64_t n)
{
	const uint64_t all = (uint64_t)at, left = all / (uint64_t)n;
	at = (int64_t)left;
	return (int64_t)(all - left * (uint64_t)n);
}

/* ---- vectors ----------------------------------------------------------- */

/* n elements, read or written by one instruction of up to 16 bytes. */
template <class T, int n>
struct __align__(sizeof(T) * n < 16 ? sizeof(T) * n : 16) tdl_vector {
	T at[n];
};

template <int n, class T> TDL_INLINE tdl_vector<T, n> tdl_load(const T *from)
{
	return *(const tdl_vector<T, n> *)from;
}

template <int n, class T>
TDL_INLINE void tdl_store(T *to, const tdl_vector<T, n> &x)
{
	*(tdl_vector<T, n> *)to = x;
}

/* Whether p is aligned for vectors of n elements. */
template <class T> TDL_INLINE bool tdl_fits(const T *p, int n)
{
	return (uint64_t)p % (sizeof(T) * n < 16 ? sizeof(T) * n : 16) == 0;
}

/* Keeps loads before it ahead of what follows; compilers would move each to its
 * use, and wait for it there. */
#define TDL_AFTER_LOADS() asm volatile("" ::: "memory")

/* ---- reductions -------------------------------------------------------- */

/* join() combines two accumulators; it is commutative. */
struct tdl_sum {
	template <class T> static __device__ T join(T a, T b)
	{
		return a + b;
	}
};

struct tdl_product {
	template <class T> static __device__ T join(T a, T b)
	{
		return a * b;
	}
};

struct tdl_largest {
	template <class T> static __device__ T join(T a, T b)
	{
		return a != a || a > b ? a : b;
	}
};

struct tdl_least {
	template <class T> static __device__ T join(T a, T b)
	{
		return a != a || a < b ? a : b;
	}
};

struct tdl_all {
	static __device__ bool join(bool a, bool b)
	{
		return a && b;
	}
};

struct tdl_any {
	static __device__ bool join(bool a, bool b)
	{
		return a || b;
	}
};

/* The best element and its position; -1: none.  A tie goes to the lowest
 * position, NaN to the first. */
template <class T> struct tdl_best {
	T best;
	int64_t where;
};

/* Whether x is better than y; is_beyond: its value is. */
template <class T>
TDL_INLINE bool tdl_is_better(const tdl_best<T> &x, const tdl_best<T> &y,
			      bool is_beyond)
{
	if (x.where < 0 || y.where < 0)
		return x.where >= 0;
	if (x.best != x.best || y.best != y.best) {
		if (y.best == y.best)
			return true;
		return x.best != x.best && x.where < y.where;
	}
	return is_beyond || (x.best == y.best && x.where < y.where);
}

struct tdl_where_largest {
	template <class T>
	static __device__ tdl_best<T> join(tdl_best<T> a, tdl_best<T> b)
	{
		return tdl_is_better(a, b, a.best > b.best) ? a : b;
	}
};

struct tdl_where_least {
	template <class T>
	static __device__ tdl_best<T> join(tdl_best<T> a, tdl_best<T> b)
	{
		return tdl_is_better(a, b, a.best < b.best) ? a : b;
	}
};

/* The value in the lane whose number differs in the bits `x'. */
template <class T> TDL_INLINE T tdl_other(T v, int x)
{
	return (T)__shfl_xor_sync(0xffffffffu, v, x);
}

template <class T> TDL_INLINE tdl_best<T> tdl_other(tdl_best<T> v, int x)
{
	tdl_best<T> r;
	r.best = tdl_other(v.best, x);
	r.where = tdl_other(v.where, x);
	return r;
}

/* Joins the accumulators of a warp; all of its threads get the result. */
template <class Op, class T> TDL_INLINE T tdl_join_warp(T v)
{
#pragma unroll
	for (int x = 16; x > 0; x /= 2)
		v = Op::join(v, tdl_other(v, x));
	return v;
}

/* Joins the accumulators of a block, a multiple of 32 threads, all of which
 * must call it; thread 0 gets the result. shared[] has an element for each
 * warp. */
template <class Op, class T> TDL_INLINE T tdl_join_block(T v, T *shared)
{
	const int nwarps = blockDim.x / 32;
	v = tdl_join_warp<Op>(v);
	if (threadIdx.x % 32 == 0)
		shared[threadIdx.x / 32] = v;
	__syncthreads();
	if (threadIdx.x == 0)
		for (int i = 1; i < nwarps; i++)
			v = Op::join(v, shared[i]);
	__syncthreads();
	return v;
}

/* Joins the accumulators of threads that are equal modulo n, a power of two;
 * the first n get the results. shared[] has an element for each thread. */
template <class Op, class T>
TDL_INLINE T tdl_join_columns(T v, int n, T *shared)
{
	const int i = threadIdx.x;
	shared[i] = v;
	__syncthreads();
	for (int m = blockDim.x / 2; m >= n; m /= 2) {
		if (i < m)
			shared[i] = Op::join(shared[i], shared[i + m]);
		__syncthreads();
	}
	v = shared[i];
	__syncthreads();
	return v;
}

/* Returns v joined with the accumulators of all lanes before it. *before
 * receives the join of those alone; lane 0 leaves it unchanged. */
template <class Op, class T> TDL_INLINE T tdl_scan_warp(T v, T *before)
{
	const int lane = threadIdx.x % 32;
#pragma unroll
	for (int x = 1; x < 32; x *= 2) {
		const T other = (T)__shfl_up_sync(0xffffffffu, v, x);
		if (lane >= x)
			v = Op::join(other, v);
	}
	const T other = (T)__shfl_up_sync(0xffffffffu, v, 1);
	if (lane > 0)
		*before = other;
	return v;
}

/* The same for a block; *total receives the join of all. shared[] has an
 * element for each warp. */
template <class Op, class T>
TDL_INLINE T tdl_scan_block(T v, T nothing, T *shared, T *total)
{
	const int warp = threadIdx.x / 32, nwarps = blockDim.x / 32;
	T before = nothing, all = nothing;
	v = tdl_scan_warp<Op>(v, &before);
	if (threadIdx.x % 32 == 31)
		shared[warp] = v;
	__syncthreads();
	before = nothing;
	for (int i = 0; i < nwarps; i++) {
		if (i == warp)
			before = all;
		all = Op::join(all, shared[i]);
	}
	__syncthreads();
	*total = all;
	return Op::join(before, v);
}

/* ---- sums of products -------------------------------------------------- */

TDL_INLINE float tdl_fma(float a, float b, float c)
{
	return fmaf(a, b, c);
}

TDL_INLINE double tdl_fma(double a, double b, double c)
{
	return fma(a, b, c);
}

TDL_INLINE uint32_t tdl_fma(uint32_t a, uint32_t b, uint32_t c)
{
	return a * b + c;
}

TDL_INLINE uint64_t tdl_fma(uint64_t a, uint64_t b, uint64_t c)
{
	return a * b + c;
}

/* Stands for the addresses of factors that are not copied. */
struct tdl_nowhere {
	template <class I, class J>
	__device__ const void *operator()(I, J) const
	{
		return nullptr;
	}
};

template <class At> struct tdl_is_somewhere {
	enum { value = 1 };
};
template <> struct tdl_is_somewhere<tdl_nowhere> {
	enum { value = 0 };
};

/* Divides a tile of the result, rows x cols elements, among 256 threads.  Each
 * has a x b elements, where its rows and columns meet.  Threads left over form
 * further `groups' with a part of the depth each; the first group gets the
 * result.  `depth' of it is in shared memory at a time. */
template <class A, int nrows, int ncols, int a_, int b_, int ndepth>
struct tdl_tile {
	typedef A accumulator;
	enum {
		threads = 256,
		rows = nrows,
		cols = ncols,
		a = a_,
		b = b_,
		depth = ndepth,
		owners = rows * cols / (a * b), /* threads of a group */
		groups = threads / owners,
		pad = 16 / sizeof(A),
		left = depth * (rows + pad), /* elements in shared memory */
		right = depth * (cols + pad),
		shared = left + right,
	};

	static __device__ bool has_result()
	{
		return threadIdx.x < owners;
	}

	/* The tile's row of the thread's row i, column of its column j. */
	static __device__ int row(int i)
	{
		return threadIdx.x / (cols / b) * a + i;
	}

	static __device__ int col(int j)
	{
		return threadIdx.x % (cols / b) * b + j;
	}

	/* tdl_sums(), below. */
	template <bool is_long, bool left_along, bool right_along, class I,
		  class Left, class Right, class LeftAt = tdl_nowhere,
		  class RightAt = tdl_nowhere>
	static __device__ void sums(A (&sum)[a][b], A *shared, I ndepths,
				    Left left, Right right, bool fits = false,
				    LeftAt left_at = {}, RightAt right_at = {});
};

/* Computes the tile's sums over the whole depth. left(row, d) and right(d, col)
 * return the factors, 0 outside; left_along: memory is contiguous along d.
 * Long sums are taken in blocks of 256.  Terms are added in a fixed order.  The
 * threads of group 0 get the sums. */
template <class Tile, bool is_long, bool left_along, bool right_along, class I,
	  class Left, class Right>
TDL_INLINE void tdl_sums(typename Tile::accumulator (&sum)[Tile::a][Tile::b],
			 typename Tile::accumulator *shared, I depth, Left left,
			 Right right)
{
	typedef typename Tile::accumulator A;
	enum {
		nleft = Tile::rows * Tile::depth / Tile::threads,
		nright = Tile::cols * Tile::depth / Tile::threads,
		lpitch = Tile::rows + Tile::pad,
		rpitch = Tile::cols + Tile::pad,
		share = Tile::depth / Tile::groups, /* a group's */
		block = 256 / share * share,
	};
	A *const lefts = shared, *const rights = shared + Tile::left;
	const int thread = threadIdx.x;
	const int group = thread / Tile::owners, owner = thread % Tile::owners;
	const int row = owner / (Tile::cols / Tile::b) * Tile::a;
	const int col = owner % (Tile::cols / Tile::b) * Tile::b;
	A next_left[nleft], next_right[nright], part[Tile::a][Tile::b];
	int terms = 0;
	const auto fetch = [&](I from) {
#pragma unroll
		for (int i = 0; i < nleft; i++) {
			const int at = thread + i * Tile::threads;
			if (left_along)
				next_left[i] = left(at / Tile::depth,
						    from + at % Tile::depth);
			else
				next_left[i] = left(at % Tile::rows,
						    from + at / Tile::rows);
		}
#pragma unroll
		for (int i = 0; i < nright; i++) {
			const int at = thread + i * Tile::threads;
			if (right_along)
				next_right[i] = right(from + at % Tile::depth,
						      at / Tile::depth);
			else
				next_right[i] = right(from + at / Tile::cols,
						      at % Tile::cols);
		}
	};
	const auto flush = [&] {
#pragma unroll
		for (int i = 0; i < Tile::a; i++)
#pragma unroll
			for (int j = 0; j < Tile::b; j++) {
				sum[i][j] += part[i][j];
				part[i][j] = 0;
			}
	};
#pragma unroll
	for (int i = 0; i < Tile::a; i++)
#pragma unroll
		for (int j = 0; j < Tile::b; j++)
			sum[i][j] = part[i][j] = 0;
	if (depth > 0)
		fetch((I)0);
	for (I from = 0; from < depth; from += Tile::depth) {
		__syncthreads();
#pragma unroll
		for (int i = 0; i < nleft; i++) {
			const int at = thread + i * Tile::threads;
			const int r = left_along ? at / Tile::depth
						 : at % Tile::rows;
			const int d = left_along ? at % Tile::depth
						 : at / Tile::rows;
			lefts[d * lpitch + r] = next_left[i];
		}
#pragma unroll
		for (int i = 0; i < nright; i++) {
			const int at = thread + i * Tile::threads;
			const int c = right_along ? at / Tile::depth
						  : at % Tile::cols;
			const int d = right_along ? at % Tile::depth
						  : at / Tile::cols;
			rights[d * rpitch + c] = next_right[i];
		}
		__syncthreads();
		if (from + Tile::depth < depth)
			fetch(from + Tile::depth);
#pragma unroll
		for (int i = 0; i < share; i++) {
			const int d = group * share + i;
			const auto l = tdl_load<Tile::a>(
				&lefts[d * lpitch + row]);
			const auto r = tdl_load<Tile::b>(
				&rights[d * rpitch + col]);
#pragma unroll
			for (int j = 0; j < Tile::a; j++)
#pragma unroll
				for (int k = 0; k < Tile::b; k++) {
					A &to = is_long ? part[j][k]
							: sum[j][k];
					to = tdl_fma(l.at[j], r.at[k], to);
				}
		}
		terms += share;
		if (is_long && terms == block) {
			flush();
			terms = 0;
		}
	}
	if (is_long)
		flush();
	/* The groups' sums, in order. */
	for (int g = 1; g < Tile::groups; g++) {
		__syncthreads();
		if (group == g)
#pragma unroll
			for (int i = 0; i < Tile::a; i++)
#pragma unroll
				for (int j = 0; j < Tile::b; j++)
					shared[(row + i) * Tile::cols + col +
					       j] = sum[i][j];
		__syncthreads();
		if (group == 0)
#pragma unroll
			for (int i = 0; i < Tile::a; i++)
#pragma unroll
				for (int j = 0; j < Tile::b; j++)
					sum[i][j] +=
						shared[(row + i) * Tile::cols +
						       col + j];
	}
	__syncthreads();
}

template <class A, int nrows, int ncols, int a, int b, int ndepth>
template <bool is_long, bool left_along, bool right_along, class I, class Left,
	  class Right, class LeftAt, class RightAt>
__device__ void tdl_tile<A, nrows, ncols, a, b, ndepth>::sums(
	A (&sum)[a][b], A *shared, I ndepths, Left left, Right right, bool,
	LeftAt, RightAt)
{
	tdl_sums<tdl_tile, is_long, left_along, right_along>(
		sum, shared, ndepths, left, right);
}

#include "tdl/tensor_cores.h"

#endif
