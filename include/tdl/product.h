/* Sums of products, blocked for caches and registers:
 *
 *	out[row, col] = sum over depth of left[row, depth] * right[depth, col]
 *
 * where rows, columns and depth are whole groups of variables, and left and
 * right are whatever a kernel computes there.  The blocking is that of Goto
 * and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM
 * TOMS 34(3), 2008: panels of both factors are packed, so that the innermost
 * loop reads memory in order and keeps a tile of the result in registers.
 *
 * Include it once per type, with
 *	TDL_T		the type
 *	TDL_TYPED(x)	a name made of x and the type
 *	TDL_FMA		the multiply-add
 *
 * An element's terms are added by ascending depth, TDL_DEPTH of them at a time,
 * and their sums likewise, so that rounding grows with the blocks alone. */
#ifndef TDL_PRODUCT_H
#define TDL_PRODUCT_H

#include "tdl/generated.h"

#if defined(__AVX512F__)
#define TDL_VECTOR 64 /* bytes of a vector */
#define TDL_ROWS   12 /* of a tile; two vectors each are kept in registers */
#elif defined(__AVX__)
#define TDL_VECTOR 32
#define TDL_ROWS   6
#else
#define TDL_VECTOR 16
#define TDL_ROWS   6
#endif

/* Columns of a tile, of elements of type t. */
#define TDL_COLS(t) ((int)(2 * TDL_VECTOR / sizeof(t)))

/* The block of packed columns, DEPTH x COL_TILES tiles, is meant to stay in
 * the second-level cache; so is the block of the result beside it. */
enum { TDL_DEPTH = 256, TDL_COL_TILES = 8, TDL_ROW_TILES = 40 };

typedef struct tdl_product tdl_product;

/* Writes depth [depth, depth + ndepth) of `n` rows or columns from `first` to
 * `to`: element (d, i) at to[d * step + i], step being TDL_ROWS or
 * TDL_COLS. */
typedef void tdl_pack(const tdl_product *p, int64_t depth, int64_t ndepth,
		      int64_t first, int64_t n, void *to);

/* Stores a part of the result: element (r, c) is at tile[r * TDL_COLS + c]. */
typedef void tdl_store(const tdl_product *p, int64_t row, int64_t nrows,
		       int64_t col, int64_t ncols, const void *tile);

struct tdl_product {
	tdl_args *args;
	int64_t rows, cols, depth;
	tdl_pack *pack_rows, *pack_cols;
	tdl_store *store;
	int64_t at[2 * TDL_MAX_NVARS]; /* of the loops around the product */
};
#endif

typedef TDL_T TDL_TYPED(vector) __attribute__((vector_size(TDL_VECTOR)));

/* a * b + c in every lane; compilers make one instruction of the loop. */
static inline __attribute__((always_inline)) TDL_TYPED(vector)
TDL_TYPED(fma_lanes)(TDL_T a, TDL_TYPED(vector) b, TDL_TYPED(vector) c)
{
	TDL_TYPED(vector) r;
	for (size_t l = 0; l < TDL_VECTOR / sizeof(TDL_T); l++)
		r[l] = TDL_FMA(a, b[l], c[l]);
	return r;
}

/* A tile of the result, `rows` x TDL_COLS, plus the product of two panels.
 * Called with a constant number of rows, so that it stays in registers. */
static inline __attribute__((always_inline)) void TDL_TYPED(tile)(
	const int rows, int64_t depth, const TDL_T *left, const TDL_T *right,
	TDL_T *tile)
{
	typedef TDL_TYPED(vector) vector;
	enum { LANES = TDL_VECTOR / sizeof(TDL_T) };
	vector sum[TDL_ROWS][2];
	vector *to = (vector *)tile;
#pragma GCC unroll 16
	for (int r = 0; r < rows; r++)
		sum[r][0] = sum[r][1] = (vector){ 0 };
	for (int64_t d = 0; d < depth; d++) {
		const vector *x = (const vector *)(right + d * 2 * LANES);
		const TDL_T *y = left + d * TDL_ROWS;
#pragma GCC unroll 16
		for (int r = 0; r < rows; r++) {
			sum[r][0] = TDL_TYPED(fma_lanes)(y[r], x[0], sum[r][0]);
			sum[r][1] = TDL_TYPED(fma_lanes)(y[r], x[1], sum[r][1]);
		}
	}
#pragma GCC unroll 16
	for (int r = 0; r < rows; r++) {
		to[2 * r] += sum[r][0];
		to[2 * r + 1] += sum[r][1];
	}
}

static void TDL_TYPED(add_tile)(int64_t rows, int64_t depth, const TDL_T *left,
				const TDL_T *right, TDL_T *tile)
{
	if (rows > 8 && TDL_ROWS > 8)
		TDL_TYPED(tile)(TDL_ROWS, depth, left, right, tile);
	else if (rows > 6 && TDL_ROWS > 6)
		TDL_TYPED(tile)(8, depth, left, right, tile);
	else if (rows > 4)
		TDL_TYPED(tile)(6, depth, left, right, tile);
	else if (rows > 2)
		TDL_TYPED(tile)(4, depth, left, right, tile);
	else if (rows > 1)
		TDL_TYPED(tile)(2, depth, left, right, tile);
	else
		TDL_TYPED(tile)(1, depth, left, right, tile);
}

/* The layout of the scratch memory. */
typedef struct TDL_TYPED(panels) {
	TDL_T right[TDL_COL_TILES][TDL_DEPTH * TDL_COLS(TDL_T)];
	TDL_T tile[TDL_ROW_TILES][TDL_COL_TILES][TDL_ROWS * TDL_COLS(TDL_T)];
	TDL_T left[TDL_DEPTH * TDL_ROWS];
} TDL_TYPED(panels);

_Static_assert(sizeof(TDL_TYPED(panels)) <= TDL_SCRATCH, "scratch");

/* Packs a panel; what it lacks to a whole tile becomes zero. */
static void TDL_TYPED(pack)(const tdl_product *p, tdl_pack *pack, int64_t depth,
			    int64_t ndepth, int64_t first, int64_t n,
			    int64_t step, TDL_T *to)
{
	if (n < step)
		memset(to, 0, (size_t)(ndepth * step) * sizeof(TDL_T));
	pack(p, depth, ndepth, first, n, to);
}

/* Adds depth [depth, depth + ndepth) to a block of the result. */
static void TDL_TYPED(add_depth)(const tdl_product *p, TDL_TYPED(panels) * s,
				 int64_t depth, int64_t row, int64_t nrows,
				 int64_t col, int64_t ncols)
{
	const int64_t cols = TDL_COLS(TDL_T);
	const int64_t ndepth = tdl_min(TDL_DEPTH, p->depth - depth);
	for (int64_t j = 0; j < ncols; j += cols)
		TDL_TYPED(pack)
		(p, p->pack_cols, depth, ndepth, col + j,
		 tdl_min(cols, ncols - j), cols, s->right[j / cols]);
	for (int64_t i = 0; i < nrows; i += TDL_ROWS) {
		const int64_t n = tdl_min(TDL_ROWS, nrows - i);
		TDL_TYPED(pack)
		(p, p->pack_rows, depth, ndepth, row + i, n, TDL_ROWS, s->left);
		for (int64_t j = 0; j < ncols; j += cols)
			TDL_TYPED(add_tile)
			(n, ndepth, s->left, s->right[j / cols],
			 s->tile[i / TDL_ROWS][j / cols]);
	}
}

static void TDL_TYPED(add_block)(const tdl_product *p, TDL_TYPED(panels) * s,
				 int64_t row, int64_t nrows, int64_t col,
				 int64_t ncols)
{
	const int64_t cols = TDL_COLS(TDL_T);
	memset(s->tile, 0,
	       (size_t)((nrows + TDL_ROWS - 1) / TDL_ROWS) *
		       sizeof(s->tile[0]));
	for (int64_t d = 0; d < p->depth; d += TDL_DEPTH)
		TDL_TYPED(add_depth)(p, s, d, row, nrows, col, ncols);
	for (int64_t i = 0; i < nrows; i += TDL_ROWS)
		for (int64_t j = 0; j < ncols; j += cols)
			p->store(p, row + i, tdl_min(TDL_ROWS, nrows - i),
				 col + j, tdl_min(cols, ncols - j),
				 s->tile[i / TDL_ROWS][j / cols]);
}

static inline void TDL_TYPED(product)(const tdl_product *p)
{
	TDL_TYPED(panels) *s = p->args->scratch;
	const int64_t rows = TDL_ROW_TILES * TDL_ROWS;
	const int64_t cols = TDL_COL_TILES * TDL_COLS(TDL_T);
	for (int64_t j = 0; j < p->cols; j += cols)
		for (int64_t i = 0; i < p->rows; i += rows)
			TDL_TYPED(add_block)
			(p, s, i, tdl_min(rows, p->rows - i), j,
			 tdl_min(cols, p->cols - j));
}

#undef TDL_T
#undef TDL_TYPED
#undef TDL_FMA
