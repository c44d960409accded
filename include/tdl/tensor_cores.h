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
#endif

/* ---- factors ----------------------------------------------------------- */

/* A type of factors that tensor cores multiply:
 *
 *	per_word  how many of them a word of 32 bits holds
 *	arch	  the first architecture (__CUDA_ARCH__) whose tensor cores
 *		  multiply them
 *	pack()	  per_word floats, converted to that type, in one word
 *	mma()	  d += a b, as above
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
 * are fetched to registers, and then stored to the other. */
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
		  class Left, class Right>
	static __device__ void sums(float (&sum)[a][b], float *shared,
				    I ndepths, Left left, Right right);

private:
	/* Adds the products of the factors in one buffer. */
	static __device__ void multiply(float (&sum)[a][b],
					const uint32_t *lefts,
					const uint32_t *rights);
};

template <class Factors, int nrows, int ncols>
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
			for (int x = 0; x < 4; x++)
				l[i][x] = lefts[row(2 * i + x % 2) * pitch +
						step + word + x / 2 * 4];
#pragma unroll
		for (int j = 0; j < b / 2; j++)
#pragma unroll
			for (int x = 0; x < 2; x++)
				r[j][x] = rights[(col(2 * j) - 2 * word +
						  threadIdx.x % 32 / 4) *
							 pitch +
						 step + word + x * 4];
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

template <class Factors, int nrows, int ncols>
template <bool is_long, bool left_along, bool right_along, class I, class Left,
	  class Right>
__device__ void tdl_mma_tile<Factors, nrows, ncols>::sums(
	float (&sum)[a][b], float *shared, I ndepths, Left left, Right right)
{
	enum {
		n = Factors::per_word,
		nlefts = rows * words / threads,
		nrights = cols * words / threads,
	};
	uint32_t next_left[nlefts], next_right[nrights];
	/* The place of the i-th word that this thread fetches of a factor: its
	 * row (of the right factor its column), of which there are `side', and
	 * its word in that.  Neighbouring threads fetch neighbours in global
	 * memory: words along the depth where `along', else rows or columns. */
	const auto side_of = [](int i, int side, bool along) {
		const int at = threadIdx.x + i * threads;
		return along ? at / words : at % side;
	};
	const auto word_of = [](int i, int side, bool along) {
		const int at = threadIdx.x + i * threads;
		return along ? at % words : at / side;
	};
	const auto fetch = [&](I from) {
#pragma unroll
		for (int i = 0; i < nlefts; i++) {
			float x[n];
#pragma unroll
			for (int j = 0; j < n; j++)
				x[j] = left(
					side_of(i, rows, left_along),
					from + word_of(i, rows, left_along) * n
						+ j);
			next_left[i] = Factors::pack(x);
		}
#pragma unroll
		for (int i = 0; i < nrights; i++) {
			float x[n];
#pragma unroll
			for (int j = 0; j < n; j++)
				x[j] = right(
					from + word_of(i, cols, right_along) * n
						+ j,
					side_of(i, cols, right_along));
			next_right[i] = Factors::pack(x);
		}
	};
	const auto store = [&](uint32_t *lefts, uint32_t *rights) {
#pragma unroll
		for (int i = 0; i < nlefts; i++)
			lefts[side_of(i, rows, left_along) * pitch +
			      word_of(i, rows, left_along)] = next_left[i];
#pragma unroll
		for (int i = 0; i < nrights; i++)
			rights[side_of(i, cols, right_along) * pitch +
			       word_of(i, cols, right_along)] = next_right[i];
	};
	uint32_t *to = (uint32_t *)shared, *other = to + tdl_mma_tile::left +
						    tdl_mma_tile::right;
#pragma unroll
	for (int i = 0; i < a; i++)
#pragma unroll
		for (int j = 0; j < b; j++)
			sum[i][j] = 0;
	if (ndepths > 0)
		fetch((I)0);
	for (I from = 0; from < ndepths; from += depth) {
		store(to, to + tdl_mma_tile::left);
		/* All warps have finished with the other buffer here, so the
		 * next round may store to it. */
		__syncthreads();
		if (from + depth < ndepths)
			fetch(from + depth);
		multiply(sum, to, to + tdl_mma_tile::left);
		uint32_t *const last = to;
		to = other;
		other = last;
	}
	__syncthreads();
}

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
