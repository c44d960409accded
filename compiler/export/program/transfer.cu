/* Kernels that copy and combine boxes of elements. */
#include "tdl/cuda.h"

#include "boxes.h"

static __device__ void find(const piece &p, int64_t i, int64_t &to,
			    int64_t &from)
{
	to = from = 0;
	for (int d = p.ndim - 1; d >= 0; d--) {
		const int64_t at = i % p.count[d];
		i /= p.count[d];
		to += at * p.to_step[d];
		from += at * p.from_step[d];
	}
}

/* Elements in turn, as many at a time as there are threads. */
#define FOR_EACH(i, n)                                                   \
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; \
	     i < (n); i += (int64_t)gridDim.x * blockDim.x)

#define COPY(name, T)                                                    \
	extern "C" __global__ void name(const boxes b)                   \
	{                                                                \
		FOR_EACH(i, b.n) {                                       \
			int64_t to, from;                                \
			find(b.p, i, to, from);                          \
			*(T *)(b.to + to) =                              \
				b.p.kind == PIECE_ZEROS                  \
					? 0                              \
					: *(const T *)(b.from + from);   \
		}                                                        \
	}

COPY(copy_1, uint8_t)
COPY(copy_2, uint16_t)
COPY(copy_4, uint32_t)
COPY(copy_8, uint64_t)

/* ---- combining --------------------------------------------------------- */

/* An element in memory, the number that it is, and back: floats of 16 bits are
 * combined as f32. */
#define PLAIN(name, T)                                            \
	struct name {                                             \
		typedef T element;                                \
		typedef T number;                                 \
		static __device__ T load(T x) { return x; }       \
		static __device__ T store(T x) { return x; }      \
	};
PLAIN(F64, double)
PLAIN(F32, float)
PLAIN(I64, int64_t)
PLAIN(I32, int32_t)
PLAIN(I16, int16_t)
PLAIN(I8, int8_t)
PLAIN(U64, uint64_t)
PLAIN(U32, uint32_t)
PLAIN(U16, uint16_t)
PLAIN(U8, uint8_t)
PLAIN(BOOL, uint8_t)

struct F16 {
	typedef uint16_t element;
	typedef float number;
	static __device__ float load(element x) { return tdl_from_f16(x); }
	static __device__ element store(float x) { return tdl_to_f16(x); }
};

struct BF16 {
	typedef uint16_t element;
	typedef float number;
	static __device__ float load(element x) { return tdl_from_bf16(x); }
	static __device__ element store(float x) { return tdl_to_bf16(x); }
};

/* Of two NaNs the first wins. */
#define BY(name, expression)                                         \
	struct name {                                                \
		template <class N> static __device__ N of(N x, N y)  \
		{                                                    \
			return (N)(expression);                      \
		}                                                    \
	};
BY(SUM, x + y)
BY(PROD, x * y)
BY(MAX, x != x ? x : y != y ? y : y > x ? y : x)
BY(MIN, x != x ? x : y != y ? y : y < x ? y : x)
BY(AND, x & y)
BY(OR, x | y)

template <class R, class T> static __device__ void combine(const boxes &b)
{
	FOR_EACH(i, b.n) {
		int64_t to, from;
		find(b.p, i, to, from);
		typename T::element *x = (typename T::element *)(b.to + to);
		const typename T::number y = T::load(
			*(const typename T::element *)(b.from + from));
		*x = T::store(R::of(T::load(*x), y));
	}
}

#define ROW(R, T)                                                  \
	extern "C" __global__ void combine_##R##_##T(const boxes b) \
	{                                                          \
		combine<R, T>(b);                                  \
	}
COMBINERS(ROW)
