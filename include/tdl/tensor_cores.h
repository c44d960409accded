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

/* Copies 16 bytes to shared memory (PTX ISA, "cp.async"); both lie at
 * multiples of 16.  A thread's copies up to tdl_end_copies() are a group.  A
 * group is there for all threads when its own has passed tdl_wait_for_copies()
 * and all have passed a barrier after that. */
TDL_INLINE void tdl_begin_copy(uint32_t *to, const void *from)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
		     :
		     : "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from)
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

/* Loads 2 or 4 matrices of 8 rows of 16 bytes from shared memory (PTX ISA,
 * "ldmatrix").  Lanes 8 m to 8 m + 7 of a warp pass the rows of matrix m, which
 * lie at multiples of 16; those of matrices that are not loaded are ignored.
 * r[m] is word t of row g of matrix m, with g and t as above; or, transposed,
 * element g of rows 2 t and 2 t + 1, where elements have 16 bits. */
#define TDL_LOAD(name, how)                                                   \
	TDL_INLINE void name(uint32_t(&r)[2], const uint32_t *row)            \
	{                                                                     \
		asm volatile("ldmatrix.sync.aligned.m8n8.x2" how              \
			     ".shared.b16 {%0, %1}, [%2];"                    \
			     : "=r"(r[0]), "=r"(r[1])                         \
			     : "r"((uint32_t)__cvta_generic_to_shared(row))   \
			     : "memory");                                     \
	}                                                                     \
	TDL_INLINE void name(uint32_t(&r)[4], const uint32_t *row)            \
	{                                                                     \
		asm volatile("ldmatrix.sync.aligned.m8n8.x4" how              \
			     ".shared.b16 {%0, %1, %2, %3}, [%4];"            \
			     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) \
			     : "r"((uint32_t)__cvta_generic_to_shared(row))   \
			     : "memory");                                     \
	}
TDL_LOAD(tdl_load_matrices, "")
TDL_LOAD(tdl_load_transposed, ".trans")
#undef TDL_LOAD
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

/* ---- shared memory ----------------------------------------------------- */

enum { TDL_MMA_WORDS = 16 }; /* along the depth, in shared memory at a time */

/* The factors of one side of a tile, of `size' elements, in shared memory:
 * along the depth, the words of one element after the other, or across it, the
 * elements of one depth after the other.  The distance from row to row (the
 * pitch) is such that a fragment has no two words in one bank. */
template <class Factors, int size, bool along> struct tdl_side_memory;

template <class Factors, int size> struct tdl_side_memory<Factors, size, true> {
	enum {
		pitch = TDL_MMA_WORDS + 4, /* words */
		all = size * pitch,
		/* Elements from piece to piece of 16 bytes, depths. */
		element_step = 1,
		depth_step = 4 * Factors::per_word,
	};

#if TDL_ARCH >= 800
	/* The word of an element at a depth. */
	static __device__ int place(int element, int depth)
	{
		return element * pitch + depth / Factors::per_word;
	}
	/* The part that this thread has of the fragment of the elements from
	 * `element' on and the words from `word' on: 16 of the left side (n is
	 * 4), 8 of the right one (n is 2). */
	template <int n>
	static __device__ void load(uint32_t (&r)[n], const uint32_t *from,
				    int element, int word)
	{
		const int matrix = threadIdx.x % 32 / 8 % n;
		element += threadIdx.x % 8 + (n == 4 ? matrix % 2 * 8 : 0);
		word += (n == 4 ? matrix / 2 : matrix) * 4;
		tdl_load_matrices(r, from + element * pitch + word);
	}
#endif
};

template <class Factors, int size>
struct tdl_side_memory<Factors, size, false> {
	enum {
		per_word = Factors::per_word,
		pitch = size / per_word + (per_word == 1 ? 8 : 4),
		all = TDL_MMA_WORDS * per_word * pitch,
		element_step = 4 * per_word,
		depth_step = 1,
	};

#if TDL_ARCH >= 800
	static __device__ int place(int element, int depth)
	{
		return depth * pitch + element / per_word;
	}
	template <int n>
	static __device__ void load(uint32_t (&r)[n], const uint32_t *from,
				    int element, int word)
	{
		const int lane = threadIdx.x % 32;
		if constexpr (per_word == 2) {
			const int matrix = lane / 8 % n;
			element += n == 4 ? matrix % 2 * 8 : 0;
			word += (n == 4 ? matrix / 2 : matrix) * 4;
			tdl_load_transposed(
				r, from + place(element, word * 2 + lane % 8));
		} else {
			element += lane / 4;
			word += lane % 4;
#pragma unroll
			for (int i = 0; i < n; i++)
				r[i] = from[place(
					element + (n == 4 ? i % 2 * 8 : 0),
					word + (n == 4 ? i / 2 : i) * 4)];
		}
	}
#endif
};

/* ---- pieces ------------------------------------------------------------ */

/* Whether what some loops walk through, the points of an iteration space by
 * their number, is one piece of 16 bytes of a tensor after the other: each
 * `length' elements, at a multiple of 16 bytes.  The loops are added from the
 * innermost one on, with the number of their values and the elements that a
 * step of theirs goes; then all others. */
template <int length> struct tdl_pieces {
	bool fit = true;
	bool open = true; /* the loops up to here are one run of elements */
	int64_t run = 1;  /* of so many */

	__device__ void inside(int64_t n, int64_t step)
	{
		if (n == 1)
			return;
		if (open && step == run) {
			run *= n;
			return;
		}
		close();
		around(n, step);
	}
	__device__ void around(int64_t n, int64_t step)
	{
		fit &= n == 1 || step % length == 0;
	}
	__device__ void close()
	{
		fit &= run % length == 0;
		open = false;
	}
	/* `first' is any element that begins a piece. */
	__device__ bool lie_at(const void *first)
	{
		close();
		return fit && (uint64_t)first % 16 == 0;
	}
};

/* ---- tiles ------------------------------------------------------------- */

/* A tile of the result, computed by the tensor cores of one block, with the
 * interface of tdl_tile.  The block's 8 warps divide it two by four; a warp
 * computes its part in pieces of 16 x 8 elements, the result of one mma.  The
 * factors of 16 words of the depth lie in shared memory at a time, twice
 * (double buffering): while the warps multiply those in one buffer, the next
 * are brought to the other.  Those of a side that lies in pieces of 16 bytes
 * along the depth, or across it, are copied there as they lie (cp.async); else
 * they are fetched to registers, and then stored. */
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
		words = TDL_MMA_WORDS,
		depth = words * Factors::per_word,
		/* Words of a buffer's left factors, and of its right ones;
		 * those across the depth take no more. */
		left = tdl_side_memory<Factors, rows, true>::all,
		right = tdl_side_memory<Factors, cols, true>::all,
		shared = 2 * (left + right),
	};
	static_assert((int)tdl_side_memory<Factors, rows, false>::all <= left &&
		      (int)tdl_side_memory<Factors, cols, false>::all <= right);

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
	 * parts would gain.  left_at(row, d) and right_at(col, d) say where
	 * factors are that may be copied, NULL outside: those after them along
	 * the depth, or across it, follow up to a multiple of 16 bytes; `fits',
	 * the same in all threads, that these pieces lie at multiples of 16. */
	template <bool is_long, bool left_along, bool right_along, class I,
		  class Left, class Right, class LeftAt = tdl_nowhere,
		  class RightAt = tdl_nowhere>
	static __device__ void sums(float (&sum)[a][b], float *shared,
				    I ndepths, Left left, Right right,
				    bool fits = false, LeftAt left_at = {},
				    RightAt right_at = {});

      private:
	/* Adds the products of the factors in one buffer. */
	template <class LeftSide, class RightSide>
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
template <class LeftSide, class RightSide>
__device__ void tdl_mma_tile<Factors, nrows, ncols>::multiply(
	float (&sum)[a][b], const uint32_t *lefts, const uint32_t *rights)
{
	const int row_0 = threadIdx.x / 128 * warp_rows;
	const int col_0 = threadIdx.x / 32 % 4 * warp_cols;
#pragma unroll
	for (int step = 0; step < words; step += 8) {
		uint32_t l[a / 2][4], r[b / 2][2];
#pragma unroll
		for (int i = 0; i < a / 2; i++)
			LeftSide::load(l[i], lefts, row_0 + i * 16, step);
#pragma unroll
		for (int j = 0; j < b / 2; j++)
			RightSide::load(r[j], rights, col_0 + j * 8, step);
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
 * that of element i at depth d.  Neighbours are along memory, which is along
 * the depth or across it; in shared memory they lie along the depth. */
template <class Tile, class Factors, int size, bool along, class Value>
struct tdl_fetched_side : tdl_side_memory<Factors, size, true> {
	typedef tdl_side_memory<Factors, size, true> memory;
	enum { n = size * Tile::words / Tile::threads };
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
	static __device__ int depth(int i)
	{
		const int at = threadIdx.x + i * Tile::threads;
		return (along ? at % Tile::words : at / size) *
		       Factors::per_word;
	}
	/* Begins to bring the factors from a depth on to a place, and ends. */
	template <class I> __device__ void begin(uint32_t *, I from)
	{
#pragma unroll
		for (int i = 0; i < n; i++) {
			float x[Factors::per_word];
#pragma unroll
			for (int j = 0; j < Factors::per_word; j++)
				x[j] = value(element(i), from + depth(i) + j);
			next[i] = Factors::pack(x);
		}
	}
	__device__ void end(uint32_t *to)
	{
#pragma unroll
		for (int i = 0; i < n; i++)
			to[memory::place(element(i), depth(i))] = next[i];
	}
};

/* A side that is copied: at(i, d) is where the factor of element i at depth d
 * is, and those after it, along the depth or across it, follow; NULL for one
 * that is not there. */
template <class Tile, class Factors, int size, bool along, class At>
struct tdl_copied_side : tdl_side_memory<Factors, size, along> {
	typedef tdl_side_memory<Factors, size, along> memory;
	enum {
		pieces = size * Tile::words / 4,
		n = (pieces + Tile::threads - 1) / Tile::threads,
		/* In a row of shared memory. */
		row = (along ? Tile::depth / memory::depth_step
			     : size / memory::element_step),
	};
	At at;

	__device__ tdl_copied_side(At x) : at(x)
	{
	}
	template <class I> __device__ void begin(uint32_t *to, I from)
	{
#pragma unroll
		for (int i = 0; i < n; i++) {
			const int k = threadIdx.x + i * Tile::threads;
			const int element = (along ? k / row : k % row) *
					    memory::element_step;
			const int d = (along ? k % row : k / row) *
				      memory::depth_step;
			if (k >= pieces)
				break;
			uint32_t *place = to + memory::place(element, d);
			if (const void *x = at(element, from + d))
				tdl_begin_copy(place, x);
			else
				tdl_store(place, tdl_vector<uint32_t, 4>{});
		}
		tdl_end_copies();
	}
	__device__ void end(uint32_t *)
	{
		tdl_wait_for_copies();
	}
	template <int m>
	static __device__ void load(uint32_t (&r)[m], const uint32_t *from,
				    int element, int word)
	{
		memory::load(r, from, element, word);
#pragma unroll
		for (int i = 0; i < m; i++)
			r[i] = Factors::of_memory(r[i]);
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
		left_side.begin(to, (I)0);
		right_side.begin(to + left, (I)0);
	}
	for (I from = 0; from < ndepths; from += depth) {
		left_side.end(to);
		right_side.end(to + left);
		/* All warps have finished with the other buffer here, so the
		 * next factors may go there. */
		__syncthreads();
		if (from + depth < ndepths) {
			left_side.begin(other, from + depth);
			right_side.begin(other + left, from + depth);
		}
		multiply<LeftSide, RightSide>(sum, to, to + left);
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
	Right right_value, bool fits, LeftAt left_at, RightAt right_at)
{
	typedef tdl_mma_tile tile;
	const auto turned = [&](int i, I d) { return right_value(d, i); };
	uint32_t *to = (uint32_t *)shared;
	tdl_fetched_side<tile, Factors, rows, left_along, Left> left_fetched(
		left_value);
	tdl_fetched_side<tile, Factors, cols, right_along, decltype(turned)>
		right_fetched(turned);
	tdl_copied_side<tile, Factors, rows, left_along, LeftAt> left_copied(
		left_at);
	tdl_copied_side<tile, Factors, cols, right_along, RightAt> right_copied(
		right_at);
	constexpr bool copies_left = tdl_is_somewhere<LeftAt>::value;
	constexpr bool copies_right = tdl_is_somewhere<RightAt>::value;
#pragma unroll
	for (int i = 0; i < a; i++)
#pragma unroll
		for (int j = 0; j < b; j++)
			sum[i][j] = 0;
	if constexpr (copies_left && copies_right) {
		if (fits) {
			steps(sum, to, ndepths, left_copied, right_copied);
			return;
		}
	} else if constexpr (copies_left) {
		if (fits) {
			steps(sum, to, ndepths, left_copied, right_fetched);
			return;
		}
	} else if constexpr (copies_right) {
		if (fits) {
			steps(sum, to, ndepths, left_fetched, right_copied);
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
