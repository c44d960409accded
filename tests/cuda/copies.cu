// Copies to shared memory and matrices that are loaded from there, by a warp, as
// the PTX ISA allows it and not, for test_copies.c.
#include "tdl/cuda.h"

#define KERNEL(name)                                                       \
	extern "C" __global__ void name(const uint32_t *x, uint32_t *y)
#define ROWS __shared__ __align__(16) uint32_t rows[32 * 4]
#define LANE (&rows[threadIdx.x * 4])

template <int n, bool transposed>
__device__ void load(uint32_t *rows, uint32_t *y)
{
	uint32_t r[n];
	for (int i = 0; i < 4; i++)
		LANE[i] = 0;
	__syncthreads();
	for (int i = 0; i < 4; i++) {
		const uint32_t element = threadIdx.x * 8 + i * 2;
		LANE[i] = element | (element + 1) << 16;
	}
	__syncthreads();
	if (transposed)
		tdl_load_transposed(r, LANE);
	else
		tdl_load_matrices(r, LANE);
	for (int i = 0; i < n; i++)
		y[threadIdx.x * 4 + i] = r[i];
}

KERNEL(load_2) { ROWS; load<2, false>(rows, y); }
KERNEL(load_4) { ROWS; load<4, false>(rows, y); }
KERNEL(load_2_transposed) { ROWS; load<2, true>(rows, y); }
KERNEL(load_4_transposed) { ROWS; load<4, true>(rows, y); }

template <class Between>
__device__ void copy(uint32_t *rows, const uint32_t *x, uint32_t *y, int shift,
		     Between between)
{
	uint32_t r[4];
	tdl_begin_copy(LANE, x + threadIdx.x * 4);
	between();
	tdl_load_matrices(r, LANE + shift);
	for (int i = 0; i < 4; i++)
		y[threadIdx.x * 4 + i] = r[i];
}

KERNEL(waited)
{
	ROWS;
	copy(rows, x, y, 0, [] {
		tdl_end_copies();
		tdl_wait_for_copies();
		__syncthreads();
	});
}

KERNEL(not_waited)
{
	ROWS;
	copy(rows, x, y, 0, [] {
		tdl_end_copies();
		__syncthreads();
	});
}

KERNEL(not_grouped)
{
	ROWS;
	copy(rows, x, y, 0, [] {
		tdl_wait_for_copies();
		__syncthreads();
	});
}

KERNEL(no_barrier)
{
	ROWS;
	copy(rows, x, y, 0, [] {
		tdl_end_copies();
		tdl_wait_for_copies();
	});
}

KERNEL(twice)
{
	ROWS;
	copy(rows, x, y, 0, [&] { tdl_begin_copy(LANE, x); });
}

KERNEL(between_rows)
{
	ROWS;
	copy(rows, x, y, 1, [] {
		tdl_end_copies();
		tdl_wait_for_copies();
		__syncthreads();
	});
}

KERNEL(nobody_waits)
{
	ROWS;
	tdl_begin_copy(LANE, x);
	tdl_end_copies();
	__syncthreads();
}

KERNEL(from_between)
{
	ROWS;
	tdl_begin_copy(LANE, x + 1);
}

KERNEL(to_global)
{
	tdl_begin_copy(y, x);
}

KERNEL(of_global)
{
	uint32_t r[4];
	tdl_load_matrices(r, x);
}
