/* Sums of products on tensor cores; a part of tdl/cuda.h.
 *
 * A tensor core multiplies factors of 16 bits or less exactly and adds the
 * products in f32, 16 of them per instruction, in its own order and with its
 * own rounding (mma.sync, PTX ISA, "Warp-Level Matrix Instructions").  Factors
 * of f32 go through it only where TDL_TF32 is 1: they are rounded to the 10
 * bits of tf32's mantissa, 8 products per instruction.  All others, and GPUs
 * before sm_80, use tdl_tile, which computes in f32. */
#ifndef TDL_TENSOR_CORES_H
#define TDL_TENSOR_CORES_H

#ifndef TDL_TF32
#define TDL_TF32 0
#endif

#ifdef __CUDA_ARCH__
#define TDL_ARCH __CUDA_ARCH__
#else
#define TDL_ARCH 0
#endif

/* One mma.sync: d += a b, where a has 16 rows, b has 8 columns, and the common
 * dimension (the depth) is 8 words of 32 bits long, each of one tf32 or two
 * numbers of 16 bits.  All 32 threads of a warp call it together; each passes
 * its part of the three matrices (PTX calls it a fragment).  For the thread of
 * a lane, with g = lane / 4 and t = lane % 4, it is
 *
 *	a[i]	row g + 8 (i % 2), word t + 4 (i / 2) along the depth
 *	b[i]	column g, word t + 4 i along the depth
 *	d[i]	row g + 8 (i / 2), column 2 t + i % 2
 */
#if TDL_ARCH >= 800 && !defined(TDL_EMULATED) /* which brings its own */
#define TDL_MMA(name, shape)                                                   \
	TDL_INLINE void name(float &d0, float &d1, float &d2, float &d3,       \
			     const uint32_t (&a)[4], const uint32_t (&b)[2])   \
	{                                                                      \
		asm("mma.sync.aligned." shape " "                              \
		    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "           \
		    "{%0, %1, %2, %3};"                                        \
		    : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)                   \
		    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),   \
		      "r"(b[1]));                                              \
	}
TDL_MMA(tdl_mma_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
TDL_MMA(tdl_mma_f16, "m16n8k16.row.col.f32.f16.f16.f32")
TDL_MMA(tdl_mma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
#undef TDL_MMA

/* A float as tf32, rounded to nearest, ties away from 0. */
TDL_INLINE uint32_t tdl_cvt_tf32(float f)
{
	uint32_t u;
	asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(u) : "f"(f));
	return u;
}

/* Copies 16 bytes to shared memory, of which those from the n-th on are 0
 * (PTX ISA, "cp.async"); both lie at multiples of 16.  A thread's copies up to
 * tdl_end_copies() are a group.  A group is there for all threads when its own
 * has passed tdl_wait_for_copies() and all have passed a barrier after that. */
TDL_INLINE void tdl_begin_copy(uint32_t *to, const void *from, int n)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
		     :
		     : "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from),
		       "r"(n)
		     : "memory");
}

TDL_INLINE void tdl_end_copies()
{
	asm volatile("cp.async.commit_group;" : : : "memory");
}

TDL_INLINE void tdl_wait_for_copies()
{
	asm volatile("cp.async.wait_group 0;" : : : "memory");
}
#endif

/* ---- factors ----------------------------------------------------------- */

/* A type of factors that tensor cores multiply:
 *
 *	per_word     how many of them a word of 32 bits holds
 *	arch	     the first architecture (__CUDA_ARCH__) whose tensor cores
 *		     multiply them
 *	pack()	     per_word floats, converted to that type, in one word
 *	of_memory()  a word that was copied from memory, as mma() takes it
 *	mma()	     d += a b, as above
 */

/* bf16: the upper half of a float. */
struct tdl_bf16_factors {
	enum { per_word = 2, arch = 800 };
#if TDL_ARCH >= 800
	static __device__ uint32_t pack(const float (&x)[per_word])
	{
		return __float_as_uint(x[0]) >> 16 |
		       (__float_as_uint(x[1]) & 0xffff0000u);
	}
	static __device__ uint32_t of_memory(uint32_t word)
	{
		return word;
	}
	static __device__ void mma(float &d0, float &d1, float &d2, float &d3,
				   const uint32_t (&a)[4],
				   const uint32_t (&b)[2])
	{
		tdl_mma_bf16(d0, d1, d2, d3, a, b);
	}
#endif
};

/* f16; also of all floats of 8 bits but f8e8m0, each of which is a number of
 * f16. */
struct tdl_f16_factors {
	enum { per_word = 2, arch = 800 };
#if TDL_ARCH >= 800
	static __device__ uint32_t pack(const float (&x)[per_word])
	{
		return tdl_cvt_f16_f32(x[0]) |
		       (uint32_t)tdl_cvt_f16_f32(x[1]) << 16;
	}
	static __device__ uint32_t of_memory(uint32_t word)
	{
		return word;
	}
	static __device__ void mma(float &d0, float &d1, float &d2, float &d3,
				   const uint32_t (&a)[4],
				   const uint32_t (&b)[2])
	{
		tdl_mma_f16(d0, d1, d2, d3, a, b);
	}
#endif
};

/* f32: rounded to tf32 where TDL_TF32 allows it, never on tensor cores
 * otherwise. */
struct tdl_f32_factors {
#if TDL_TF32
	enum { per_word = 1, arch = 800 };
#else
	enum { per_word = 1, arch = 1 << 30 };
#endif
#if TDL_ARCH >= 800
	static __device__ uint32_t pack(const float (&x)[per_word])
	{
		return tdl_cvt_tf32(x[0]);
	}
	static __device__ uint32_t of_memory(uint32_t word)
	{
		return tdl_cvt_tf32(__uint_as_float(word));
	}
	static __device__ void mma(float &d0, float &d1, float &d2, float &d3,
				   const uint32_t (&a)[4],
				   const uint32_t (&b)[2])
	{
		tdl_mma_tf32(d0, d1, d2, d3, a, b);
	}
#endif
};

/* ---- tiles ------------------------------------------------------------- */

/* A tile of the result, computed by the tensor cores of one block, with the
 * interface of tdl_tile.  The block's 8 warps divide it two by four; a warp
 * computes its part in pieces of 16 x 8 elements, the result of one mma.  The
 * factors of 16 words of the depth lie in shared memory at a time, twice
 * (double buffering): while the warps multiply those in one buffer, the next
 * are brought to the other.  A side whose factors lie in memory as they do in
 * the buffer, one depth after the other, is copied there by cp.async, in pieces
 * of 16 bytes; else its factors are fetched to registers and then stored. */
template <class Factors, int nrows, int ncols> struct tdl_mma_tile {
	typedef float accumulator;
	enum {
		threads = 256,
		rows = nrows,
		cols = ncols,
		warp_rows = rows / 2,
		warp_cols = cols / 4,
		a = warp_rows / 8,
		b = warp_cols / 4,
		words = 16,
		depth = words * Factors::per_word,
		pitch = words + 4,   /* from row to row, in words: a warp that
					reads a fragment has no two threads in
					one bank of shared memory */
		left = rows * pitch, /* words of a buffer's left factors .. */
		right = cols * pitch, /* .. and of its right ones */
		shared = 2 * (left + right),
	};

	static __device__ bool has_result()
	{
		return true;
	}

	static __device__ int row(int i)
	{
		return threadIdx.x / 128 * warp_rows + i / 2 * 16 + i % 2 * 8 +
		       threadIdx.x % 32 / 4;
	}

	static __device__ int col(int j)
	{
		return threadIdx.x / 32 % 4 * warp_cols + j / 2 * 8 +
		       threadIdx.x % 4 * 2 + j % 2;
	}

	/* As tdl_tile's.  is_long, by which that adds long sums in parts, is
	 * not used here: the tensor core's own rounding is coarser than what
	 * parts would gain. */
	template <bool is_long, bool left_along, bool right_along, class I,
		  class Left, class Right, class LeftAt = tdl_nowhere,
		  class RightAt = tdl_nowhere>
	static __device__ void sums(float (&sum)[a][b], float *shared,
				    I ndepths, Left left, Right right,
				    LeftAt left_at = {}, RightAt right_at = {});

private:
	/* Adds the products of the factors in one buffer; of each side,
	 * whether these are words that were packed, or copies of memory. */
	template <bool left_copied, bool right_copied>
	static __device__ void multiply(float (&sum)[a][b],
					const uint32_t *lefts,
					const uint32_t *rights);

	/* Adds all products; a side says how its factors come here. */
	template <class LeftSide, class RightSide, class I>
	static __device__ void steps(float (&sum)[a][b], uint32_t *shared,
				     I ndepths, LeftSide left, RightSide right);
};

#if TDL_ARCH >= 800
template <class Factors, int nrows, int ncols>
template <bool left_copied, bool right_copied>
__device__ void tdl_mma_tile<Factors, nrows, ncols>::multiply(
	float (&sum)[a][b], const uint32_t *lefts, const uint32_t *rights)
{
	const int word = threadIdx.x % 4;
#pragma unroll
	for (int step = 0; step < words; step += 8) {
		uint32_t l[a / 2][4], r[b / 2][2];
#pragma unroll
		for (int i = 0; i < a / 2; i++)
#pragma unroll
			for (int x = 0; x < 4; x++) {
				const uint32_t w =
					lefts[row(2 * i + x % 2) * pitch +
					      step + word + x / 2 * 4];
				l[i][x] = left_copied ? Factors::of_memory(w)
						      : w;
			}
#pragma unroll
		for (int j = 0; j < b / 2; j++)
#pragma unroll
			for (int x = 0; x < 2; x++) {
				const uint32_t w =
					rights[(col(2 * j) - 2 * word +
						threadIdx.x % 32 / 4) * pitch +
					       step + word + x * 4];
				r[j][x] = right_copied ? Factors::of_memory(w)
						       : w;
			}
#pragma unroll
		for (int i = 0; i < a / 2; i++)
#pragma unroll
			for (int j = 0; j < b / 2; j++)
				Factors::mma(sum[2 * i][2 * j],
					     sum[2 * i][2 * j + 1],
					     sum[2 * i + 1][2 * j],
					     sum[2 * i + 1][2 * j + 1], l[i],
					     r[j]);
	}
}

/* A side of `size' elements whose factors go through registers: value(i, d) is
 * that of element i at depth d.  Neighbours are along memory. */
template <class Tile, class Factors, int size, bool along, class Value>
struct tdl_fetched_side {
	enum { copied = 0, n = size * Tile::words / Tile::threads };
	Value value;
	uint32_t next[n];

	__device__ tdl_fetched_side(Value v) : value(v)
	{
	}
	static __device__ int element(int i)
	{
		const int at = threadIdx.x + i * Tile::threads;
		return along ? at / Tile::words : at % size;
	}
	static __device__ int word(int i)
	{
		const int at = threadIdx.x + i * Tile::threads;
		return along ? at % Tile::words : at / size;
	}
	/* Begins to bring the factors from a depth on to a place, and ends. */
	template <class I> __device__ void begin(uint32_t *, I from, I)
	{
#pragma unroll
		for (int i = 0; i < n; i++) {
			float x[Factors::per_word];
#pragma unroll
			for (int j = 0; j < Factors::per_word; j++)
				x[j] = value(element(i),
					     from + word(i) *
							    Factors::per_word +
						     j);
			next[i] = Factors::pack(x);
		}
	}
	__device__ void end(uint32_t *to)
	{
#pragma unroll
		for (int i = 0; i < n; i++)
			to[element(i) * Tile::pitch + word(i)] = next[i];
	}
};

/* A side that is copied: at(i, d) is where the factor is, and those of the
 * depths after it follow; NULL for an element that is not there. */
template <class Tile, class Factors, int size, class At>
struct tdl_copied_side {
	enum {
		copied = 1,
		words = 4, /* of a piece */
		pieces = Tile::words / words,
		n = (size * pieces + Tile::threads - 1) / Tile::threads,
		bytes = 4 / Factors::per_word, /* of a factor */
	};
	At at;

	__device__ tdl_copied_side(At x) : at(x)
	{
	}
	/* Whether all pieces of this thread lie at multiples of 16. */
	template <class I> __device__ bool fits(I ndepths)
	{
		bool good = true;
#pragma unroll
		for (int i = 0; i < n; i++) {
			const int k = threadIdx.x + i * Tile::threads;
			const I d = k % pieces * (words * Factors::per_word);
			if (k < size * pieces && d < ndepths)
				good &= (uint64_t)at(k / pieces, d) % 16 == 0;
		}
		return good;
	}
	template <class I>
	__device__ void begin(uint32_t *to, I from, I ndepths)
	{
#pragma unroll
		for (int i = 0; i < n; i++) {
			const int k = threadIdx.x + i * Tile::threads;
			const I d = from +
				    k % pieces * (words * Factors::per_word);
			uint32_t *place = to + k / pieces * Tile::pitch +
					  k % pieces * words;
			const void *x = d < ndepths && k < size * pieces
						? at(k / pieces, d)
						: nullptr;
			const I rest = (ndepths - d) * bytes;
			if (x)
				tdl_begin_copy(place, x,
					       rest < 16 ? (int)rest : 16);
			else if (k < size * pieces)
				tdl_store(place,
					  tdl_vector<uint32_t, words>{});
		}
		tdl_end_copies();
	}
	__device__ void end(uint32_t *)
	{
		tdl_wait_for_copies();
	}
};

template <class Factors, int nrows, int ncols>
template <class LeftSide, class RightSide, class I>
__device__ void tdl_mma_tile<Factors, nrows, ncols>::steps(
	float (&sum)[a][b], uint32_t *to, I ndepths, LeftSide left_side,
	RightSide right_side)
{
	uint32_t *other = to + left + right;
	if (ndepths > 0) {
		left_side.begin(to, (I)0, ndepths);
		right_side.begin(to + left, (I)0, ndepths);
	}
	for (I from = 0; from < ndepths; from += depth) {
		left_side.end(to);
		right_side.end(to + left);
		/* All warps have finished with the other buffer here, so the
		 * next factors may go there. */
		__syncthreads();
		if (from + depth < ndepths) {
			left_side.begin(other, from + depth, ndepths);
			right_side.begin(other + left, from + depth, ndepths);
		}
		multiply<LeftSide::copied, RightSide::copied>(sum, to,
							      to + left);
		uint32_t *const last = to;
		to = other;
		other = last;
	}
	__syncthreads();
}

template <class Factors, int nrows, int ncols>
template <bool is_long, bool left_along, bool right_along, class I, class Left,
	  class Right, class LeftAt, class RightAt>
__device__ void tdl_mma_tile<Factors, nrows, ncols>::sums(
	float (&sum)[a][b], float *shared, I ndepths, Left left_value,
	Right right_value, LeftAt left_at, RightAt right_at)
{
	typedef tdl_mma_tile tile;
	const auto across = [&](int i, I d) { return right_value(d, i); };
	uint32_t *to = (uint32_t *)shared;
	tdl_fetched_side<tile, Factors, rows, left_along, Left> left_fetched(
		left_value);
	tdl_fetched_side<tile, Factors, cols, right_along, decltype(across)>
		right_fetched(across);
#pragma unroll
	for (int i = 0; i < a; i++)
#pragma unroll
		for (int j = 0; j < b; j++)
			sum[i][j] = 0;
	constexpr bool copies_left = tdl_is_somewhere<LeftAt>::value;
	constexpr bool copies_right = tdl_is_somewhere<RightAt>::value;
	if constexpr (copies_left || copies_right) {
		tdl_copied_side<tile, Factors, rows, LeftAt> left_copied(
			left_at);
		tdl_copied_side<tile, Factors, cols, RightAt> right_copied(
			right_at);
		/* The same for all threads. */
		const bool fits = __syncthreads_and(
			(!copies_left || left_copied.fits(ndepths)) &&
			(!copies_right || right_copied.fits(ndepths)));
		if (fits) {
			if constexpr (copies_left && copies_right)
				steps(sum, to, ndepths, left_copied,
				      right_copied);
			else if constexpr (copies_left)
				steps(sum, to, ndepths, left_copied,
				      right_fetched);
			else
				steps(sum, to, ndepths, left_fetched,
				      right_copied);
			return;
		}
	}
	steps(sum, to, ndepths, left_fetched, right_fetched);
}
#endif

/* tdl_mma_tile where the GPU's tensor cores multiply these factors, else
 * tdl_tile. */
template <bool has_cores, class Factors, int rows, int cols, int a, int b,
	  int depth>
struct tdl_choose_tile {
	typedef tdl_mma_tile<Factors, rows, cols> type;
};

template <class Factors, int rows, int cols, int a, int b, int depth>
struct tdl_choose_tile<false, Factors, rows, cols, a, b, depth> {
	typedef tdl_tile<float, rows, cols, a, b, depth> type;
};

template <class Factors, int rows, int cols, int a, int b, int depth>
using tdl_tile_of =
	typename tdl_choose_tile<(TDL_ARCH >= (int)Factors::arch), Factors,
				 rows, cols, a, b, depth>::type;

#endif
