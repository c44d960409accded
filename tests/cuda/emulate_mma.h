/* Tensor cores; a part of tests/cuda/emulate.h.  Source: PTX ISA 8.1, "Matrix
 * Fragments for mma.m16n8k16 with floating point type" and "for mma.m16n8k8":
 * which row and column an element of a thread's fragment is.  The terms of an
 * element are added to it in f32, by ascending k. */
#ifndef TDL_TESTS_CUDA_EMULATE_MMA_H
#define TDL_TESTS_CUDA_EMULATE_MMA_H

/* The fragments of the threads of a block, for the others of their warps. */
struct emu_fragments {
	unsigned a[4], b[2];
};
static emu_fragments emu_of_thread[1024];

static inline float emu_of_bf16(unsigned bits)
{
	return emu_cast<float>(bits << 16);
}

static inline float emu_of_f32(unsigned bits)
{
	return emu_cast<float>(bits);
}

static inline float emu_of_f16(unsigned bits)
{
	const unsigned e = bits >> 10 & 31, m = bits & 1023;
	const double x = e == 31 ? m ? __builtin_nan("") : __builtin_inf()
			 : e ? __builtin_ldexp(1024 + m, (int)e - 25)
			     : __builtin_ldexp(m, -24);
	return (float)(bits >> 15 ? -x : x);
}

/* 16 x 8 elements, of factors of 16 bits (k 16) or 32 (k 8). */
struct emu_mma_16 {
	static constexpr int k = 16, na = 8, nb = 4;
	static int row_of_a(int group, int i)
	{
		return i == 0 || i == 1 || i == 4 || i == 5 ? group : group + 8;
	}
	static int col_of_a(int in_group, int i)
	{
		return in_group * 2 + (i & 1) + (i < 4 ? 0 : 8);
	}
	static int row_of_b(int in_group, int i)
	{
		return in_group * 2 + (i & 1) + (i < 2 ? 0 : 8);
	}
	static unsigned element(const unsigned *words, int i)
	{
		return words[i / 2] >> (i % 2 * 16) & 0xffff;
	}
};

struct emu_mma_8 {
	static constexpr int k = 8, na = 4, nb = 2;
	static int row_of_a(int group, int i)
	{
		return i == 0 || i == 2 ? group : group + 8;
	}
	static int col_of_a(int in_group, int i)
	{
		return i < 2 ? in_group : in_group + 4;
	}
	static int row_of_b(int in_group, int i)
	{
		return i == 0 ? in_group : in_group + 4;
	}
	static unsigned element(const unsigned *words, int i)
	{
		return words[i];
	}
};

template <class M, class F>
static inline void emu_mma(int line, float *(&d)[4], const unsigned (&a)[4],
			   const unsigned (&b)[2], F value)
{
	float x[16][M::k], y[M::k][8];
	const int thread = threadIdx.x, warp = thread & ~31;
	__builtin_memcpy(emu_of_thread[thread].a, a, sizeof a);
	__builtin_memcpy(emu_of_thread[thread].b, b, sizeof b);
	emu_syncwarp(line);
	for (int lane = 0; lane < 32; lane++) {
		const emu_fragments &f = emu_of_thread[warp + lane];
		const int group = lane >> 2, in_group = lane % 4;
		for (int i = 0; i < M::na; i++)
			x[M::row_of_a(group, i)][M::col_of_a(in_group, i)] =
				value(M::element(f.a, i));
		for (int i = 0; i < M::nb; i++)
			y[M::row_of_b(in_group, i)][group] =
				value(M::element(f.b, i));
	}
	emu_syncwarp(line);
	for (int i = 0; i < 4; i++) {
		const int row = (thread % 32 >> 2) + (i < 2 ? 0 : 8);
		const int col = thread % 4 * 2 + (i & 1);
		for (int k = 0; k < M::k; k++)
			*d[i] += x[row][k] * y[k][col];
	}
}

#define EMU_MMA(name, M, value)                                                \
	static inline void name(float &d0, float &d1, float &d2, float &d3,    \
				const unsigned (&a)[4],                        \
				const unsigned (&b)[2])                        \
	{                                                                      \
		float *d[4] = {&d0, &d1, &d2, &d3};                            \
		emu_mma<M>(__LINE__, d, a, b, value);                          \
	}
EMU_MMA(tdl_mma_bf16, emu_mma_16, emu_of_bf16)
EMU_MMA(tdl_mma_f16, emu_mma_16, emu_of_f16)
EMU_MMA(tdl_mma_tf32, emu_mma_8, emu_of_f32)

/* Source: PTX ISA 8.1, "ldmatrix": which address is that of which row, and the
 * elements that a thread gets. */
static const void *emu_row_of_thread[1024];

template <int n>
static inline void emu_load(int line, unsigned (&r)[n], const unsigned *row,
			    bool transposed)
{
	const int thread = threadIdx.x, lane = thread & 31;
	if (lane < 8 * n)
		emu_row(line, row);
	emu_row_of_thread[thread] = row;
	emu_syncwarp(line);
	for (int m = 0; m < n; m++) {
		r[m] = 0;
		for (int half = 0; half < 2; half++) {
			const int i = lane / 4, j = lane % 4 * 2 + half;
			const int at = transposed ? j : i;
			const void *from =
				emu_row_of_thread[(thread & ~31) + 8 * m + at];
			unsigned short element;
			__builtin_memcpy(&element,
					 (const char *)from +
						 2 * (transposed ? i : j),
					 sizeof element);
			r[m] |= (unsigned)element << 16 * half;
		}
	}
	emu_syncwarp(line);
}

#define tdl_load_matrices(r, row)   emu_load(__LINE__, r, row, false)
#define tdl_load_transposed(r, row) emu_load(__LINE__, r, row, true)

#define tdl_begin_copy(to, from) emu_copy(__LINE__, to, from)
#define tdl_end_copies() emu_group()
#define tdl_wait_for_copies() emu_wait()

/* To nearest, ties away from 0, with 10 bits behind the first. */
static inline unsigned tdl_cvt_tf32(float x)
{
	const unsigned bits = emu_cast<unsigned>(x);
	if (x != x)
		return 0x7fffffff;
	return (bits + 0x1000) & 0xffffe000;
}

#endif
