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

/* Elements of two vectors, by number; gcc knows clang's way from 12 on. */
#ifdef __clang__
#define TDL_SHUFFLE(type, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define TDL_SHUFFLE(type, x, y, ...) \
	__builtin_shuffle(x, y, (type){ __VA_ARGS__ })
#endif

/* Columns of a tile, of elements of type t. */
#define TDL_COLS(t) ((int)(2 * TDL_VECTOR / sizeof(t)))

/* Blocks of packed rows and of the result are of TDL_BLOCK bytes each, and
 * meant to stay in the second-level cache; a panel of columns is read for all
 * rows of the block, one tile after the other. */
enum { TDL_DEPTH = 256, TDL_BLOCK = 480 << 10 };

typedef struct tdl_product tdl_product;

/* Writes depth [depth, depth + ndepth) of `n` rows or columns from `first` to
 * `to`: element (d, i) at to[d * step + i], step being TDL_ROWS or
 * TDL_COLS. */
typedef void tdl_pack(const tdl_product *p, int64_t depth, int64_t ndepth,
		      int64_t first, int64_t n, void *to);

/* Stores a part of the result: element (r, c) is at tile[r * TDL_COLS + c]. */
typedef void tdl_store(const tdl_product *p, int64_t row, int64_t nrows,
		       int64_t col, int64_t ncols, const void *tile);

/* A factor.  Where `at` is not NULL it lies in memory, the element of depth d
 * of row or column i at at[d * depth + i * step], and one of the two steps is
 * 1: where that along rows or columns is, whole tiles read it there. */
typedef struct tdl_factor {
	tdl_pack *pack;
	const void *at;
	int64_t depth, step; /* elements */
} tdl_factor;

struct tdl_product {
	tdl_args *args;
	int64_t rows, cols, depth;
	tdl_factor left, right;
	tdl_store *store;
	int64_t at[2 * TDL_MAX_NVARS]; /* of the loops around the product */
};
#endif

typedef TDL_T TDL_TYPED(vector) __attribute__((vector_size(TDL_VECTOR)));
/* The same in memory, wherever that is. */
typedef TDL_T TDL_TYPED(lanes)
	__attribute__((vector_size(TDL_VECTOR), aligned(sizeof(TDL_T)),
		       may_alias));

/* a * b + c in every lane; compilers make one instruction of the loop. */
static inline __attribute__((always_inline)) TDL_TYPED(vector)
TDL_TYPED(fma_lanes)(TDL_T a, TDL_TYPED(vector) b, TDL_TYPED(vector) c)
{
	TDL_TYPED(vector) r;
	for (size_t l = 0; l < TDL_VECTOR / sizeof(TDL_T); l++)
		r[l] = TDL_FMA(a, b[l], c[l]);
	return r;
}

/* A panel of a factor, as wide as a tile: element (d, i) is at[d * step + i].
 */
typedef struct TDL_TYPED(panel) {
	const TDL_T *at;
	int64_t step;
} TDL_TYPED(panel);

/* A tile of the result, `rows` x TDL_COLS, plus the product of two panels.
 * Called with a constant number of rows, so that it stays in registers. */
static inline __attribute__((always_inline)) void TDL_TYPED(tile)(
	const int rows, int64_t depth, TDL_TYPED(panel) left,
	TDL_TYPED(panel) right, TDL_T *tile)
{
	typedef TDL_TYPED(vector) vector;
	enum { LANES = TDL_VECTOR / sizeof(TDL_T) };
	vector sum[TDL_ROWS][2];
	vector *to = (vector *)tile;
#pragma GCC unroll 16
	for (int r = 0; r < rows; r++)
		sum[r][0] = sum[r][1] = (vector){ 0 };
	for (int64_t d = 0; d < depth; d++) {
		const TDL_TYPED(lanes) *x = (const void *)right.at;
		const vector x0 = x[0], x1 = x[1];
#pragma GCC unroll 16
		for (int r = 0; r < rows; r++) {
			const TDL_T y = left.at[r];
			sum[r][0] = TDL_TYPED(fma_lanes)(y, x0, sum[r][0]);
			sum[r][1] = TDL_TYPED(fma_lanes)(y, x1, sum[r][1]);
		}
		left.at += left.step;
		right.at += right.step;
	}
#pragma GCC unroll 16
	for (int r = 0; r < rows; r++) {
		to[2 * r] += sum[r][0];
		to[2 * r + 1] += sum[r][1];
	}
}

static void TDL_TYPED(add_tile)(int64_t rows, int64_t depth,
				TDL_TYPED(panel) left, TDL_TYPED(panel) right,
				TDL_T *tile)
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

/* The layout of the scratch memory: a block of rows, one of the result, a panel
 * of columns. */
typedef struct TDL_TYPED(panels) {
	TDL_T left[TDL_BLOCK / (TDL_DEPTH * TDL_ROWS * sizeof(TDL_T))]
		  [TDL_DEPTH * TDL_ROWS];
	TDL_T tile[TDL_BLOCK / (TDL_ROWS * 2 * TDL_VECTOR)]
		  [TDL_ROWS * TDL_COLS(TDL_T)];
	TDL_T right[TDL_DEPTH * TDL_COLS(TDL_T)];
} TDL_TYPED(panels);

_Static_assert(sizeof(TDL_TYPED(panels)) <= TDL_SCRATCH, "scratch");

/* Tiles of a block that are above each other; all tiles of a block. */
#define TDL_ROW_TILES ((int)(sizeof(s->left) / sizeof(s->left[0])))
#define TDL_TILES     ((int)(sizeof(s->tile) / sizeof(s->tile[0])))

/* A block of the result, at some of the depth. */
typedef struct TDL_TYPED(block) {
	int64_t row, nrows, col, ncols, depth, ndepth;
} TDL_TYPED(block);

/* Four rows or columns of a factor that lies along the depth, of n each, to a
 * panel. */
static void TDL_TYPED(pack_four)(const TDL_T *from, int64_t step, int64_t n,
				 TDL_T *to, int64_t width)
{
	typedef TDL_T four __attribute__((vector_size(4 * sizeof(TDL_T))));
	typedef __typeof__(__builtin_choose_expr(sizeof(TDL_T) == 4, INT32_C(0),
						 INT64_C(0)))
		lanes __attribute__((vector_size(4 * sizeof(TDL_T)), unused));
	int64_t d = 0;
	for (; d + 4 <= n; d += 4) {
		four a, b, c, e, ac, be, out[4];
		memcpy(&a, from + d, sizeof(a));
		memcpy(&b, from + step + d, sizeof(b));
		memcpy(&c, from + 2 * step + d, sizeof(c));
		memcpy(&e, from + 3 * step + d, sizeof(e));
		ac = TDL_SHUFFLE(lanes, a, c, 0, 4, 1, 5);
		be = TDL_SHUFFLE(lanes, b, e, 0, 4, 1, 5);
		out[0] = TDL_SHUFFLE(lanes, ac, be, 0, 4, 1, 5);
		out[1] = TDL_SHUFFLE(lanes, ac, be, 2, 6, 3, 7);
		ac = TDL_SHUFFLE(lanes, a, c, 2, 6, 3, 7);
		be = TDL_SHUFFLE(lanes, b, e, 2, 6, 3, 7);
		out[2] = TDL_SHUFFLE(lanes, ac, be, 0, 4, 1, 5);
		out[3] = TDL_SHUFFLE(lanes, ac, be, 2, 6, 3, 7);
		for (int i = 0; i < 4; i++)
			memcpy(to + (d + i) * width, &out[i], sizeof(out[i]));
	}
	for (; d < n; d++)
		for (int i = 0; i < 4; i++)
			to[d * width + i] = from[i * step + d];
}

/* Packs n rows or columns from `first`. */
static void TDL_TYPED(pack)(const tdl_product *p, const tdl_factor *f,
			    const TDL_TYPED(block) * b, int64_t first,
			    int64_t n, int64_t width, TDL_T *to)
{
	const TDL_T *from = (const TDL_T *)f->at + first * f->step + b->depth;
	int64_t i = 0;
	if (!f->at || f->depth != 1) {
		f->pack(p, b->depth, b->ndepth, first, n, to);
		return;
	}
	for (; i + 4 <= n; i += 4)
		TDL_TYPED(pack_four)
		(from + i * f->step, f->step, b->ndepth, to + i, width);
	for (; i < n; i++)
		for (int64_t d = 0; d < b->ndepth; d++)
			to[d * width + i] = from[i * f->step + d];
}

/* A panel of n rows or columns from `first`, where it lies, or packed to `to`;
 * what it lacks to a whole tile, `width` of them, becomes zero. */
static TDL_TYPED(panel)
TDL_TYPED(panel_of)(const tdl_product *p, const tdl_factor *f,
		    const TDL_TYPED(block) * b, int64_t first, int64_t n,
		    int64_t width, TDL_T *to)
{
	if (f->at && f->step == 1 && n == width)
		return (TDL_TYPED(panel)){
			(const TDL_T *)f->at + b->depth * f->depth + first,
			f->depth };
	if (n < width)
		memset(to, 0, (size_t)(b->ndepth * width) * sizeof(TDL_T));
	TDL_TYPED(pack)(p, f, b, first, n, width, to);
	return (TDL_TYPED(panel)){ to, width };
}

/* Has part i of n of a panel of columns that lies in memory brought nearer. */
static void TDL_TYPED(fetch)(const TDL_TYPED(block) * b, TDL_TYPED(panel) x,
			     int64_t i, int64_t n)
{
	enum { LINE = 64 };
	for (int64_t d = b->ndepth * i / n; d < b->ndepth * (i + 1) / n; d++)
		for (size_t at = 0; at < 2 * TDL_VECTOR; at += LINE)
			__builtin_prefetch((const char *)(x.at + d * x.step) +
						   at,
					   0, 2);
}

/* Adds some of the depth to a block of the result.  The columns that follow are
 * fetched meanwhile. */
static void TDL_TYPED(add_depth)(const tdl_product *p, TDL_TYPED(panels) * s,
				 const TDL_TYPED(block) * b)
{
	const int64_t cols = TDL_COLS(TDL_T);
	const int64_t above = (b->nrows + TDL_ROWS - 1) / TDL_ROWS;
	TDL_TYPED(panel) left[TDL_ROW_TILES], right, next;
	TDL_T *tile = s->tile[0];
	for (int64_t i = 0; i < above; i++)
		left[i] = TDL_TYPED(panel_of)(
			p, &p->left, b, b->row + i * TDL_ROWS,
			tdl_min(TDL_ROWS, b->nrows - i * TDL_ROWS), TDL_ROWS,
			s->left[i]);
	for (int64_t j = 0; j < b->ncols; j += cols) {
		const bool more = p->right.at && p->right.step == 1 &&
				  j + 2 * cols <= b->ncols;
		right = TDL_TYPED(panel_of)(p, &p->right, b, b->col + j,
					    tdl_min(cols, b->ncols - j), cols,
					    s->right);
		next = (TDL_TYPED(panel)){ right.at + cols, right.step };
		for (int64_t i = 0; i < above; i++) {
			if (more)
				TDL_TYPED(fetch)(b, next, i, above);
			TDL_TYPED(add_tile)
			(tdl_min(TDL_ROWS, b->nrows - i * TDL_ROWS), b->ndepth,
			 left[i], right, tile);
			tile += TDL_ROWS * cols;
		}
	}
}

static void TDL_TYPED(add_block)(const tdl_product *p, TDL_TYPED(panels) * s,
				 TDL_TYPED(block) b)
{
	const int64_t cols = TDL_COLS(TDL_T);
	const int64_t above = (b.nrows + TDL_ROWS - 1) / TDL_ROWS;
	const TDL_T *tile = s->tile[0];
	memset(s->tile, 0, (size_t)(above * ((b.ncols + cols - 1) / cols)) *
				   sizeof(s->tile[0]));
	for (; b.depth < p->depth; b.depth += TDL_DEPTH) {
		b.ndepth = tdl_min(TDL_DEPTH, p->depth - b.depth);
		TDL_TYPED(add_depth)(p, s, &b);
	}
	for (int64_t j = 0; j < b.ncols; j += cols)
		for (int64_t i = 0; i < b.nrows; i += TDL_ROWS) {
			p->store(p, b.row + i, tdl_min(TDL_ROWS, b.nrows - i),
				 b.col + j, tdl_min(cols, b.ncols - j), tile);
			tile += TDL_ROWS * cols;
		}
}

/* Blocks have as many rows as there is room for, and columns beside them. */
static inline void TDL_TYPED(product)(const tdl_product *p)
{
	TDL_TYPED(panels) *s = p->args->scratch;
	const int64_t rows = tdl_min(TDL_ROW_TILES * TDL_ROWS, p->rows);
	const int64_t above = (rows + TDL_ROWS - 1) / TDL_ROWS;
	const int64_t cols = above ? TDL_TILES / above * TDL_COLS(TDL_T) : 1;
	for (int64_t j = 0; j < p->cols; j += cols)
		for (int64_t i = 0; i < p->rows; i += rows)
			TDL_TYPED(add_block)
			(p, s,
			 (TDL_TYPED(block)){
				 .row = i,
				 .nrows = tdl_min(rows, p->rows - i),
				 .col = j,
				 .ncols = tdl_min(cols, p->cols - j) });
}

#undef TDL_ROW_TILES
#undef TDL_TILES
#undef TDL_T
#undef TDL_TYPED
#undef TDL_FMA
