/* Boxes of elements in device memory: copied from place to place, or combined.
 * Compiled behind tdl/cuda.h, and before lines TDL_COMBINE(reducer, type) for
 * what a plan combines.
 *
 * A list is an array of words.  The first njobs + 1 say with which tile each
 * job begins, and how many there are; the next njobs where its own words are:
 *
 *	width, a power of two: elements for a copy, bytes are 1 << width; of
 *		what is combined 1 << width elements are loaded at once;
 *	number of dimensions, of units, of sources: a copy without one is of
 *		zeros;
 *	count per dimension, in units;
 *	the destination's address, and its step per dimension, in units;
 *	the same for each source.
 *
 * A tile is TDL_PACK_TILE units, a job less than 2^31; any grid gives the
 * same. */

enum {
	TDL_PACK_THREADS = 256,
	TDL_PACK_EACH = 4, /* units of a thread that are on the way at once */
	TDL_PACK_TILE = TDL_PACK_THREADS * TDL_PACK_EACH,
	TDL_PACK_HEAD = 4
};

/* The job that a tile belongs to. */
TDL_INLINE int tdl_pack_job(const int64_t *first, int njobs,
					  int64_t tile)
{
	int lo = 0, hi = njobs;
	while (hi - lo > 1) {
		const int mid = (lo + hi) / 2;
		if (first[mid] <= tile)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* How many units unit n lies behind the first. */
TDL_INLINE int64_t tdl_pack_at(const int64_t *count,
					     const int64_t *step, int ndim,
					     uint32_t n)
{
	int64_t at = 0;
	for (int d = ndim - 1; d > 0; d--) {
		const uint32_t size = (uint32_t)count[d], rest = n / size;
		at += (int64_t)(n - rest * size) * step[d];
		n = rest;
	}
	return ndim > 0 ? at + (int64_t)n * step[0] : 0;
}

/* ---- copies ------------------------------------------------------------ */

template <typename U>
TDL_INLINE void tdl_copy_tile(const int64_t *job, uint32_t tile)
{
	const int ndim = (int)job[1], nfrom = (int)job[3];
	const uint32_t n = (uint32_t)job[2];
	const uint32_t begin = tile * TDL_PACK_TILE + threadIdx.x;
	const int64_t *count = job + TDL_PACK_HEAD;
	const int64_t *to = count + ndim, *from = to + 1 + ndim;
	U x[TDL_PACK_EACH];
#pragma unroll
	for (int k = 0; k < TDL_PACK_EACH; k++) {
		const uint32_t i = begin + k * TDL_PACK_THREADS;
		x[k] = U();
		if (i < n && nfrom > 0)
			x[k] = ((const U *)from[0])[tdl_pack_at(
				count, from + 1, ndim, i)];
	}
#pragma unroll
	for (int k = 0; k < TDL_PACK_EACH; k++) {
		const uint32_t i = begin + k * TDL_PACK_THREADS;
		if (i < n)
			((U *)to[0])[tdl_pack_at(count, to + 1, ndim, i)] =
				x[k];
	}
}

/* The same where rows are as long as a tile: that has parts of two at most, so
 * that their places are found once. */
template <typename U>
TDL_INLINE void tdl_copy_rows(const int64_t *job, uint32_t tile)
{
	const int ndim = (int)job[1];
	const uint32_t n = (uint32_t)job[2], first = tile * TDL_PACK_TILE;
	const int64_t *count = job + TDL_PACK_HEAD;
	const int64_t *to = count + ndim, *from = to + 1 + ndim;
	const uint32_t length = (uint32_t)count[ndim - 1];
	const uint32_t row = first / length, col = first - row * length;
	const int64_t to_step = to[ndim], from_step = from[ndim];
	U *to_row[2];
	const U *from_row[2];
	U x[TDL_PACK_EACH];
	for (int r = 0; r < 2; r++) {
		to_row[r] = (U *)to[0] +
			    tdl_pack_at(count, to + 1, ndim - 1, row + r);
		from_row[r] = (const U *)from[0] +
			      tdl_pack_at(count, from + 1, ndim - 1, row + r);
	}
#pragma unroll
	for (int k = 0; k < TDL_PACK_EACH; k++) {
		const uint32_t i = threadIdx.x + k * TDL_PACK_THREADS;
		const bool next = col + i >= length;
		const int64_t at = (int64_t)(col + i) - (next ? length : 0);
		if (first + i < n)
			x[k] = (next ? from_row[1] : from_row[0])
				[at * from_step];
	}
#pragma unroll
	for (int k = 0; k < TDL_PACK_EACH; k++) {
		const uint32_t i = threadIdx.x + k * TDL_PACK_THREADS;
		const bool next = col + i >= length;
		const int64_t at = (int64_t)(col + i) - (next ? length : 0);
		if (first + i < n)
			(next ? to_row[1] : to_row[0])[at * to_step] = x[k];
	}
}

template <typename U>
TDL_INLINE void tdl_copy_unit(const int64_t *job, uint32_t tile)
{
	const int ndim = (int)job[1], nfrom = (int)job[3];
	const int64_t *count = job + TDL_PACK_HEAD;
	if (ndim > 0 && nfrom > 0 && count[ndim - 1] >= TDL_PACK_TILE)
		tdl_copy_rows<U>(job, tile);
	else
		tdl_copy_tile<U>(job, tile);
}

TDL_INLINE void tdl_copy_any(const int64_t *job, uint32_t tile)
{
	switch (job[0]) {
	case 0:
		tdl_copy_unit<uint8_t>(job, tile);
		break;
	case 1:
		tdl_copy_unit<uint16_t>(job, tile);
		break;
	case 2:
		tdl_copy_unit<uint32_t>(job, tile);
		break;
	case 3:
		tdl_copy_unit<uint2>(job, tile);
		break;
	default:
		tdl_copy_unit<uint4>(job, tile);
		break;
	}
}

extern "C" __global__ void __launch_bounds__(TDL_PACK_THREADS)
tdl_copy(const int64_t *list, int njobs)
{
	const int64_t ntiles = list[njobs];
	for (int64_t i = blockIdx.x; i < ntiles; i += gridDim.x) {
		const int j = tdl_pack_job(list, njobs, i);
		tdl_copy_any(list + list[njobs + 1 + j],
			     (uint32_t)(i - list[j]));
	}
}

/* ---- combining --------------------------------------------------------- */

/* Integers wrap around; min and max keep a NaN, the first. */
#define TDL_PACK_FLOATS(T)                                                  \
	TDL_INLINE T tdl_pack_Sum(T x, T y) { return x + y; } \
	TDL_INLINE T tdl_pack_Prod(T x, T y) { return x * y; }
#define TDL_PACK_INTS(T)                                           \
	TDL_INLINE T tdl_pack_Sum(T x, T y)          \
	{                                                          \
		return (T)((uint64_t)x + (uint64_t)y);             \
	}                                                          \
	TDL_INLINE T tdl_pack_Prod(T x, T y)         \
	{                                                          \
		return (T)((uint64_t)x * (uint64_t)y);             \
	}                                                          \
	TDL_INLINE T tdl_pack_And(T x, T y)          \
	{                                                          \
		return x && y;                                     \
	}                                                          \
	TDL_INLINE T tdl_pack_Or(T x, T y)           \
	{                                                          \
		return x || y;                                     \
	}
#define TDL_PACK_ORDER(T)                                          \
	TDL_INLINE T tdl_pack_Max(T x, T y)          \
	{                                                          \
		return x != x || x > y ? x : y;                    \
	}                                                          \
	TDL_INLINE T tdl_pack_Min(T x, T y)          \
	{                                                          \
		return x != x || x < y ? x : y;                    \
	}

TDL_PACK_FLOATS(float)
TDL_PACK_FLOATS(double)
TDL_PACK_INTS(int64_t)
TDL_PACK_INTS(uint64_t)
TDL_PACK_ORDER(float)
TDL_PACK_ORDER(double)
TDL_PACK_ORDER(int64_t)
TDL_PACK_ORDER(uint64_t)

/* How an element is stored, in which type it is combined, and how it comes
 * from one to the other. */
#define TDL_PACK_TYPE(NAME, STORED, WORK, FROM, TO)                     \
	struct tdl_pack_##NAME {                                        \
		typedef STORED stored;                                  \
		typedef WORK work;                                      \
		static __device__ work from(stored x) { return FROM(x); } \
		static __device__ stored to(work x) { return (stored)TO(x); } \
	};

TDL_PACK_TYPE(f64, double, double, , )
TDL_PACK_TYPE(f32, float, float, , )
TDL_PACK_TYPE(f16, uint16_t, float, tdl_from_f16, tdl_to_f16)
TDL_PACK_TYPE(bf16, uint16_t, float, tdl_from_bf16, tdl_to_bf16)
TDL_PACK_TYPE(i64, int64_t, int64_t, , )
TDL_PACK_TYPE(i32, int32_t, int64_t, , )
TDL_PACK_TYPE(i16, int16_t, int64_t, , )
TDL_PACK_TYPE(i8, int8_t, int64_t, , )
TDL_PACK_TYPE(u64, uint64_t, uint64_t, , )
TDL_PACK_TYPE(u32, uint32_t, uint64_t, , )
TDL_PACK_TYPE(u16, uint16_t, uint64_t, , )
TDL_PACK_TYPE(u8, uint8_t, uint64_t, , )
TDL_PACK_TYPE(bool, uint8_t, uint64_t, 0 !=, 0 !=)
TDL_PACK_TYPE(f8e4m3fn, uint8_t, float, tdl_from_f8e4m3fn, tdl_to_f8e4m3fn)
TDL_PACK_TYPE(f8e4m3fnuz, uint8_t, float, tdl_from_f8e4m3fnuz,
	      tdl_to_f8e4m3fnuz)
TDL_PACK_TYPE(f8e5m2, uint8_t, float, tdl_from_f8e5m2, tdl_to_f8e5m2)
TDL_PACK_TYPE(f8e5m2fnuz, uint8_t, float, tdl_from_f8e5m2fnuz,
	      tdl_to_f8e5m2fnuz)
TDL_PACK_TYPE(f8e8m0, uint8_t, float, tdl_from_f8e8m0, tdl_to_f8e8m0)
TDL_PACK_TYPE(f6e2m3, uint8_t, float, tdl_from_f6e2m3, tdl_to_f6e2m3)
TDL_PACK_TYPE(f6e3m2, uint8_t, float, tdl_from_f6e3m2, tdl_to_f6e3m2)
TDL_PACK_TYPE(f4e2m1, uint8_t, float, tdl_from_f4e2m1, tdl_to_f4e2m1)
TDL_PACK_TYPE(i4, int8_t, int64_t, , tdl_wrap_i4)
TDL_PACK_TYPE(u4, uint8_t, uint64_t, , tdl_wrap_u4)
TDL_PACK_TYPE(i2, int8_t, int64_t, , tdl_wrap_i2)
TDL_PACK_TYPE(u2, uint8_t, uint64_t, , tdl_wrap_u2)

/* N elements that lie side by side, loaded at once. */
template <typename T, int N> struct alignas(sizeof(T) * N) tdl_pack_unit {
	T e[N];
};

/* The sources one after the other, the first as it is. */
template <typename C, int N>
TDL_INLINE void tdl_combine_tile(const int64_t *job,
					       uint32_t tile)
{
	typedef tdl_pack_unit<typename C::type::stored, N> unit;
	const int ndim = (int)job[1], nfrom = (int)job[3];
	const uint32_t n = (uint32_t)job[2];
	const uint32_t begin = tile * TDL_PACK_TILE + threadIdx.x;
	const int64_t *count = job + TDL_PACK_HEAD;
	const int64_t *to = count + ndim, *from = to + 1 + ndim;
	unit x[TDL_PACK_EACH];
	for (int s = 0; s < nfrom; s++, from += 1 + ndim) {
#pragma unroll
		for (int k = 0; k < TDL_PACK_EACH; k++) {
			const uint32_t i = begin + k * TDL_PACK_THREADS;
			if (i >= n)
				continue;
			const unit y = ((const unit *)from[0])[tdl_pack_at(
				count, from + 1, ndim, i)];
			for (int e = 0; e < N; e++)
				x[k].e[e] = s > 0 ? C::of(x[k].e[e], y.e[e])
						  : y.e[e];
		}
	}
#pragma unroll
	for (int k = 0; k < TDL_PACK_EACH; k++) {
		const uint32_t i = begin + k * TDL_PACK_THREADS;
		if (i < n)
			((unit *)to[0])[tdl_pack_at(count, to + 1, ndim,
						       i)] = x[k];
	}
}

template <typename C>
TDL_INLINE void tdl_combine(const int64_t *list, int njobs)
{
	const int MOST = 16 / (int)sizeof(typename C::type::stored);
	const int64_t ntiles = list[njobs];
	for (int64_t i = blockIdx.x; i < ntiles; i += gridDim.x) {
		const int j = tdl_pack_job(list, njobs, i);
		const int64_t *job = list + list[njobs + 1 + j];
		const uint32_t tile = (uint32_t)(i - list[j]);
		if (job[0] > 0)
			tdl_combine_tile<C, MOST>(job, tile);
		else
			tdl_combine_tile<C, 1>(job, tile);
	}
}

#define TDL_COMBINE(R, T)                                                    \
	struct tdl_combiner_##R##_##T {                                      \
		typedef tdl_pack_##T type;                                   \
		static __device__ type::stored of(type::stored x,            \
						  type::stored y)            \
		{                                                            \
			return type::to(                                     \
				tdl_pack_##R(type::from(x), type::from(y))); \
		}                                                            \
	};                                                                   \
	extern "C" __global__ void __launch_bounds__(TDL_PACK_THREADS)       \
	tdl_combine_##R##_##T(const int64_t *list, int njobs)                \
	{                                                                    \
		tdl_combine<tdl_combiner_##R##_##T>(list, njobs);            \
	}

/* ---- progress ---------------------------------------------------------- */

/* Tells the host, in memory of its own, how far the device has come. */
extern "C" __global__ void tdl_reached(volatile int *at, int instr)
{
	*at = instr;
	__threadfence_system();
}
