/* Long sums, and windows of reductions that are no products.
 *
 * A part of tdl/product.h, which includes it once per type. */
#ifndef TDL_SUMS_H
#define TDL_SUMS_H

#include "tdl/generated.h"

#endif

/* ---- long sums ---------------------------------------------------------- */

/* Adds to each of TDL_LANES accumulators n terms, of x and y, or of x alone if
 * y is NULL, that lie beside each other in memory: term i belongs to
 * accumulator i mod TDL_LANES.  They are in registers meanwhile. */
static inline void TDL_TYPED(add_terms)(int64_t n, const TDL_T *x,
					const TDL_T *y, TDL_T *lane)
{
	enum {
		WIDTH = TDL_VECTOR / sizeof(TDL_T),
		VECTORS = TDL_LANES / WIDTH,
	};
	TDL_TYPED(vector) sum[VECTORS];
	TDL_TYPED(lanes) *to = (void *)lane;
	TDL_UNROLL
	for (int v = 0; v < VECTORS; v++)
		sum[v] = to[v];
	for (int64_t i = 0; i < n; i++) {
		const TDL_TYPED(lanes) *a = (const void *)(x + i * TDL_LANES);
		const TDL_TYPED(lanes) *b = (const void *)(y + i * TDL_LANES);
		TDL_UNROLL
		for (int v = 0; v < VECTORS; v++)
			sum[v] = y ? TDL_TYPED(fma_vectors)(a[v], b[v], sum[v])
				   : sum[v] + a[v];
	}
	TDL_UNROLL
	for (int v = 0; v < VECTORS; v++)
		to[v] = sum[v];
}

/* Whether no element of a block, or none of the rows [lo, hi) of its first
 * dimension, is infinite or NaN. */
static inline bool TDL_TYPED(finite)(const tdl_block *b, int64_t lo, int64_t hi)
{
	enum { WIDTH = TDL_VECTOR / sizeof(TDL_T) };
	const TDL_T *x = (const TDL_T *)b->data +
			 (lo - b->origin[0]) * b->stride[0];
	const int64_t n = (hi - lo) * b->stride[0];
	TDL_TYPED(vector) sum = { 0 };
	TDL_T rest = 0;
	int64_t i = 0;
	for (; i + WIDTH <= n; i += WIDTH)
		sum += *(const TDL_TYPED(lanes) *)(const void *)(x + i) * 0;
	for (; i < n; i++)
		rest += x[i] * 0;
	for (int l = 0; l < WIDTH; l++)
		rest += sum[l];
	return rest == 0;
}

/* ---- windows ------------------------------------------------------------ */

_Static_assert(sizeof(TDL_T) * TDL_WINDOW_PLANE +
			       sizeof(int64_t) * (TDL_WINDOW_SIZE +
						  2 * TDL_WINDOW_COLS) <=
		       TDL_SCRATCH,
	       "scratch");

/* Columns [first, last) of a row of a plane: of x from `at` on, which has n,
 * and `other` besides, and everywhere unless the row is `inside`.  Every
 * step'th belongs to one part of the plane, which are `size` elements apart. */
static inline void TDL_TYPED(window_row)(TDL_T *to, int64_t size, int64_t step,
					 int64_t first, int64_t last,
					 const TDL_T *x, int64_t at, int64_t n,
					 TDL_T other, bool inside)
{
	const int64_t in = inside ? tdl_clamp(0, first, last) : last;
	const int64_t end = inside ? tdl_clamp(n, in, last) : last;
	for (int64_t part = 0; part < step; part++, to += size) {
		int64_t c = first + part, i = 0;
		TDL_ROLL
		for (; c < in; c += step)
			to[i++] = other;
		if (step == 1 && end > c) {
			TDL_TYPED(copy_row)(&to[i], &x[at + c], end - c);
			i += end - c;
			c = end;
		}
		for (; c < end; c += step)
			to[i++] = x[at + c];
		TDL_ROLL
		for (; c < last; c += step)
			to[i++] = other;
	}
}
