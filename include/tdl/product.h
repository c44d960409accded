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

/* In front of a loop of a constant number of turns, that vectors in registers
 * are numbered by; in front of one that becomes vectors, which compilers would
 * not find in its turns one after the other.  Elements of two vectors, by
 * number; gcc knows clang's way from 12 on. */
#ifdef __clang__
#define TDL_UNROLL _Pragma("clang loop unroll(full)")
#define TDL_ROLL   _Pragma("clang loop unroll(disable)")
#define TDL_SHUFFLE(type, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define TDL_UNROLL _Pragma("GCC unroll 16")
#define TDL_ROLL   _Pragma("GCC unroll 1")
#define TDL_SHUFFLE(type, x, y, ...) \
	__builtin_shuffle(x, y, (type){ __VA_ARGS__ })
#endif

/* Columns of a tile, of elements of type t. */
#define TDL_COLS(t) ((int)(2 * TDL_VECTOR / sizeof(t)))

/* A block of packed rows is of TDL_BLOCK bytes, and meant to stay in the
 * second-level cache beside TDL_PANELS panels of columns, each of which is read
 * for all rows of the block, one tile after the other.  The tiles of a block of
 * the result are touched once for TDL_DEPTH terms, and may lie further away:
 * TDL_TILES bytes, which is room for so many columns that packing the rows for
 * them costs little.  A panel that lies in memory is copied if at least TDL_FEW
 * tiles read it: caches have few places for what lies in even steps.  A panel
 * of columns of windows is copied if at least TDL_MANY rows read it.
 * TDL_STORED tiles that are above each other are stored at a time. */
enum {
	TDL_DEPTH = 256,
	TDL_BLOCK = 480 << 10,
	TDL_PANELS = 8,
	TDL_TILES = 4 * TDL_BLOCK,
	TDL_FEW = 4,
	TDL_MANY = 96,
	TDL_STORED = 4,
};

typedef struct tdl_product tdl_product;

/* Writes depth [depth, depth + ndepth) of `n` rows or columns from `first` to
 * `to`: element (d, i) at to[d * step + i], step being TDL_ROWS or
 * TDL_COLS. */
typedef void tdl_pack(const tdl_product *p, int64_t depth, int64_t ndepth,
		      int64_t first, int64_t n, void *to);

/* Stores a part of the result, TDL_STORED tiles above each other at most:
 * element (r, c) is at tile[r * TDL_COLS + c]. */
typedef void tdl_store(const tdl_product *p, int64_t row, int64_t nrows,
		       int64_t col, int64_t ncols, const void *tile);

/* A factor that is read in a window that moves over rows of images: its element
 * at term (c, r, s) of column (n, i, j), both counted in that order, is
 *
 *	in[n * image + c * channel + y * row + x]
 *	y = first[0] + i * step[0] + r * term[0]
 *	x = first[1] + j * step[1] + s * term[1]
 *
 * where lo <= (y, x) < hi, and `other` elsewhere.  Steps are at least 1. */
typedef struct tdl_window {
	const void *in;
	int64_t image, channel, row; /* elements */
	int64_t size[2], terms[2];   /* the ranges of i and j, of r and s */
	int64_t first[2], step[2], term[2], lo[2], hi[2];
	double other;
} tdl_window;

/* Lays out what such a factor is in columns from `first' on, of n that follow,
 * so that columns beside each other lie beside each other for every term: that
 * of depth + d at place[d] of the planes, which have room for as much as
 * TDL_PANELS panels.  Returns for how many columns, of one image, it has done
 * so; 0 where planes would be too large. */
typedef int64_t tdl_planes(const tdl_window *w, int64_t depth, int64_t ndepth,
			   int64_t first, int64_t n, void *planes,
			   int64_t *place);

/* A factor.  Where `at` is not NULL it lies in memory, the element of depth d
 * of row or column i at at[d * depth + i * step]; if `run` is not 0, so many
 * rows or columns lie so, and those that follow begin at at[far], as images of
 * a batch do.  Where `kept` is not NULL it is there in packed form: tile after
 * tile, each with all of the depth.  Where `planes` is not NULL it is read in a
 * window, whose columns are the factor's rows or columns. */
typedef struct tdl_factor {
	tdl_pack *pack;
	const void *at;
	int64_t depth, step; /* elements */
	int64_t run, far;
	void *kept;
	tdl_planes *planes;
	tdl_window window;
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

/* a * b + c in every lane, as TDL_FMA has it: gcc makes one instruction of the
 * loop, clang of the operators. */
static inline __attribute__((always_inline)) TDL_TYPED(vector)
TDL_TYPED(fma_vectors)(TDL_TYPED(vector) a, TDL_TYPED(vector) b,
		       TDL_TYPED(vector) c)
{
#ifdef __clang__
#pragma clang fp contract(fast)
	return a * b + c;
#else
	TDL_TYPED(vector) r;
	for (size_t l = 0; l < TDL_VECTOR / sizeof(TDL_T); l++)
		r[l] = TDL_FMA(a[l], b[l], c[l]);
	return r;
#endif
}

/* x in every lane; x - 0 is x, that of -0, too. */
static inline __attribute__((always_inline)) TDL_TYPED(vector)
TDL_TYPED(spread)(TDL_T x)
{
	return x - (TDL_TYPED(vector)){0};
}

/* A panel of a factor, as wide as a tile: element (d, i) is at[d * step + i].
 */
typedef struct TDL_TYPED(panel) {
	const TDL_T *at;
	int64_t step;
} TDL_TYPED(panel);

/* A panel of columns: element (d, i) is at[place[d] + i]. */
typedef struct TDL_TYPED(columns) {
	const TDL_T *at;
	const int64_t *place;
} TDL_TYPED(columns);

/* Columns that follow, which a tile brings nearer meanwhile: a row in each of
 * 2 ^ slow steps. */
typedef struct TDL_TYPED(ahead) {
	const TDL_T *at;
	const int64_t *place;
	int slow;
} TDL_TYPED(ahead);

/* Has a row of a panel of columns brought nearer. */
static inline void TDL_TYPED(fetch)(const TDL_T *at)
{
	enum { LINE = 64 };
	for (size_t i = 0; i < 2 * TDL_VECTOR; i += LINE)
		__builtin_prefetch((const char *)at + i, 0, 2);
}

/* A tile of the result, `rows` x TDL_COLS or half of that, `wide` vectors: the
 * product of two panels, and what is there unless this is the `first` one.
 * Tiles with few rows also bring nearer the columns at `next`, in even steps:
 * all at once would keep the loop from its own memory.  Called with constant
 * numbers of rows and vectors, so that it stays in registers. */
static inline __attribute__((always_inline)) void TDL_TYPED(tile)(
	const int rows, const int wide, int64_t depth, bool first,
	TDL_TYPED(panel) left, TDL_TYPED(columns) right, TDL_TYPED(ahead) next,
	TDL_T *tile)
{
	typedef TDL_TYPED(vector) vector;
	vector sum[TDL_ROWS][2];
	vector *to = (vector *)tile;
	TDL_UNROLL
	for (int r = 0; r < rows; r++) {
		sum[r][0] = sum[r][1] = (vector){ 0 };
		for (int i = 0; i < wide && !first; i++)
			__builtin_prefetch(&to[2 * r + i], 1);
	}
	for (int64_t d = 0; d < depth; d++) {
		const TDL_TYPED(lanes) *x =
			(const void *)(right.at + right.place[d]);
		const vector x0 = x[0], x1 = x[wide - 1];
		if (rows < TDL_ROWS)
			TDL_TYPED(fetch)(next.at + next.place[d >> next.slow]);
		TDL_UNROLL
		for (int r = 0; r < rows; r++) {
			const vector y = TDL_TYPED(spread)(left.at[r]);
			sum[r][0] = TDL_TYPED(fma_vectors)(y, x0, sum[r][0]);
			if (wide > 1)
				sum[r][1] = TDL_TYPED(fma_vectors)(y, x1,
								   sum[r][1]);
		}
		left.at += left.step;
	}
	TDL_UNROLL
	for (int r = 0; r < rows; r++)
		for (int i = 0; i < wide; i++)
			to[2 * r + i] = sum[r][i] + (first ? (vector){ 0 }
							  : to[2 * r + i]);
}

/* rows, cols: those that are asked for; a tile may have more.  It has just 8 of
 * 12, or 4 of 6, where these are asked for, which row_of() makes of a tile with
 * another below it: more would be added to rows of that. */
static void TDL_TYPED(add_tile)(int64_t rows, int64_t cols, int64_t depth,
				bool first, TDL_TYPED(panel) x,
				TDL_TYPED(columns) y, TDL_TYPED(ahead) next,
				TDL_T *to)
{
	const bool narrow = cols <= TDL_COLS(TDL_T) / 2;
	if (narrow && rows > 8 && TDL_ROWS > 8)
		TDL_TYPED(tile)(TDL_ROWS, 1, depth, first, x, y, next, to);
	else if (narrow && rows > 6 && TDL_ROWS > 6)
		TDL_TYPED(tile)(8, 1, depth, first, x, y, next, to);
	else if (narrow && rows > 4)
		TDL_TYPED(tile)(6, 1, depth, first, x, y, next, to);
	else if (narrow && rows > 2)
		TDL_TYPED(tile)(4, 1, depth, first, x, y, next, to);
	else if (rows > 8 && TDL_ROWS > 8)
		TDL_TYPED(tile)(TDL_ROWS, 2, depth, first, x, y, next, to);
	else if (rows > 6 && TDL_ROWS > 6)
		TDL_TYPED(tile)(8, 2, depth, first, x, y, next, to);
	else if (rows > 4)
		TDL_TYPED(tile)(6, 2, depth, first, x, y, next, to);
	else if (rows > 2)
		TDL_TYPED(tile)(4, 2, depth, first, x, y, next, to);
	else if (rows > 1)
		TDL_TYPED(tile)(2, 2, depth, first, x, y, next, to);
	else
		TDL_TYPED(tile)(1, 2, depth, first, x, y, next, to);
}

/* The layout of the scratch memory: a block of rows, panels of columns, or
 * planes; a panel beside planes; a block of the result. */
typedef struct TDL_TYPED(panels) {
	TDL_T left[TDL_BLOCK / (TDL_DEPTH * TDL_ROWS * sizeof(TDL_T))]
		  [TDL_DEPTH * TDL_ROWS];
	TDL_T right[TDL_PANELS][TDL_DEPTH * TDL_COLS(TDL_T)];
	TDL_T edge[TDL_DEPTH * TDL_COLS(TDL_T)];
	TDL_T tile[TDL_TILES / (TDL_ROWS * 2 * TDL_VECTOR)]
		  [TDL_ROWS * TDL_COLS(TDL_T)];
	/* Places in panels that are packed, and in those that are not. */
	int64_t packed[TDL_DEPTH], other[TDL_DEPTH];
} TDL_TYPED(panels);

_Static_assert(sizeof(TDL_TYPED(panels)) <= TDL_SCRATCH, "scratch");

/* Tiles of a block that are above each other; all tiles of a block. */
#define TDL_ROW_TILES ((int)(sizeof(s->left) / sizeof(s->left[0])))
#define TDL_ALL_TILES ((int)(sizeof(s->tile) / sizeof(s->tile[0])))

/* A block of the result, at some of the depth. */
typedef struct TDL_TYPED(block) {
	int64_t row, nrows, col, ncols, depth, ndepth;
	bool first, last; /* part of the depth */
} TDL_TYPED(block);

#include "tdl/panels.h"

/* Tiles that are above each other. */
static inline int64_t TDL_TYPED(tiles_of)(const TDL_TYPED(block) * b)
{
	return (b->nrows + TDL_ROWS - 1) / TDL_ROWS;
}

/* The first row of tile i of these, or their end.  As few rows take as long as
 * some more, a last tile with few has some of the one before it, unless rows
 * are kept in tiles. */
static inline int64_t TDL_TYPED(row_of)(const tdl_product *p,
					const TDL_TYPED(block) * b, int64_t i)
{
	enum { FEW = TDL_ROWS / 3 };
	const int64_t row = i * TDL_ROWS;
	if (row >= b->nrows)
		return b->nrows;
	return i > 0 && b->nrows - row <= FEW && !p->left.kept ? row - FEW
							       : row;
}

/* The tiles of the columns from col + j of a block, which are at `tile`; if the
 * depth is in one part, some of them at a time.  If `next` is not NULL, the
 * columns that follow lie there, and are brought nearer meanwhile. */
static void TDL_TYPED(add_tiles)(const tdl_product *p,
				 const TDL_TYPED(block) * b, int64_t j,
				 const TDL_TYPED(panel) * left,
				 TDL_TYPED(columns) right, const TDL_T *next,
				 TDL_T *tile)
{
	const int64_t cols = TDL_COLS(TDL_T);
	const int64_t ncols = tdl_min(cols, b->ncols - j);
	const int64_t above = TDL_TYPED(tiles_of)(b);
	const bool once = b->first && b->last;
	const bool few = TDL_TYPED(row_of)(p, b, 1) < TDL_ROWS;
	const int slow = few && above == 2;
	int64_t stored = 0; /* rows */
	for (int64_t i = 0; i < above; i++) {
		const int64_t row = TDL_TYPED(row_of)(p, b, i);
		const int64_t nrows = TDL_TYPED(row_of)(p, b, i + 1) - row;
		for (int64_t d = b->ndepth * i / above;
		     next && !few && d < b->ndepth * (i + 1) / above; d++)
			TDL_TYPED(fetch)(next + right.place[d]);
		TDL_TYPED(add_tile)
		(nrows, ncols, b->ndepth, b->first, left[i], right,
		 (TDL_TYPED(ahead)){ few && next ? next : right.at,
				     right.place + slow * i * b->ndepth / 2,
				     slow },
		 tile + (row - (once ? stored : 0)) * cols);
		if (!b->last ||
		    ((i + 1) % TDL_STORED != 0 && i + 1 < above))
			continue;
		p->store(p, b->row + stored, row + nrows - stored, b->col + j,
			 ncols, tile + (once ? 0 : stored * cols));
		stored = row + nrows;
	}
}

/* Places of rows that are `step` apart. */
static void TDL_TYPED(find_places)(int64_t step, int64_t *place)
{
	for (int64_t d = 0; d < TDL_DEPTH; d++)
		place[d] = d * step;
}

/* Adds some of the depth to a block of the result, whose rows are `left`, and
 * columns of windows.  Panels are read in the planes, or packed if they are not
 * whole there, or if many rows read them: in planes, most of what a panel has
 * for a term lies in two lines of the cache. */
static __attribute__((noinline)) void TDL_TYPED(add_windows)(
	const tdl_product *p, TDL_TYPED(panels) * s, const TDL_TYPED(block) * b,
	const TDL_TYPED(panel) * left)
{
	const int64_t cols = TDL_COLS(TDL_T);
	const int64_t above = TDL_TYPED(tiles_of)(b);
	const bool here = b->nrows < TDL_MANY;
	TDL_TYPED(laid) l = { .until = b->col + b->ncols };
	for (int64_t k = 0; k * cols < b->ncols; k++) {
		const int64_t j = k * cols, first = b->col + j;
		const int64_t n = tdl_min(cols, b->ncols - j);
		TDL_TYPED(columns) right = { s->edge, s->packed };
		if (here && TDL_TYPED(lay)(&p->right, s, b, first, n, &l))
			right = (TDL_TYPED(columns)){
				s->right[0] + (first - l.first), s->other
			};
		else
			TDL_TYPED(pack_windows)
			(p, &p->right, s, b, first, n, cols, s->edge, &l);
		TDL_TYPED(add_tiles)
		(p, b, j, left, right, NULL,
		 s->tile[b->first && b->last ? 0 : k * above]);
	}
}

/* The same of other columns. */
static void TDL_TYPED(add_cols)(const tdl_product *p, TDL_TYPED(panels) * s,
				const TDL_TYPED(block) * b,
				const TDL_TYPED(panel) * left)
{
	const tdl_factor *f = &p->right;
	const int64_t cols = TDL_COLS(TDL_T), whole = b->ncols / cols;
	const int64_t above = TDL_TYPED(tiles_of)(b);
	const bool here = !f->kept && f->at && f->step == 1 &&
			  TDL_TYPED(stays)(f, above, cols);
	const bool copied = f->at && f->step == 1 && !here && !f->kept;
	if (here)
		TDL_TYPED(find_places)(f->depth, s->other);
	for (int64_t k = 0; k * cols < b->ncols; k++) {
		TDL_T *to = s->right[k % TDL_PANELS];
		TDL_TYPED(panel) right = { to, cols };
		const int64_t j = k * cols;
		const TDL_T *next = NULL;
		if (copied && k < whole && k % TDL_PANELS == 0)
			TDL_TYPED(copy_panels)
			(f, b, b->col + j, tdl_min(TDL_PANELS, whole - k), s);
		if (!copied || k == whole ||
		    !TDL_TYPED(lies)(f, b->col + j, cols))
			right = TDL_TYPED(panel_of)(
				p, f, b, above, b->col + j,
				tdl_min(cols, b->ncols - j), cols, to);
		if (here && k + 1 < whole)
			next = right.at + cols;
		if (f->kept && k + 1 < whole)
			next = right.at + cols * p->depth;
		TDL_TYPED(add_tiles)
		(p, b, j, left,
		 (TDL_TYPED(columns)){ right.at, right.step == cols
							 ? s->packed
							 : s->other },
		 next, s->tile[b->first && b->last ? 0 : k * above]);
	}
}

/* Finds, or packs, the rows of a block. */
static void TDL_TYPED(find_rows)(const tdl_product *p, TDL_TYPED(panels) * s,
				 const TDL_TYPED(block) * b,
				 TDL_TYPED(panel) * left)
{
	const int64_t cols = TDL_COLS(TDL_T);
	const bool windows = p->left.planes && !p->left.kept;
	TDL_TYPED(laid) l = { .until = b->row + b->nrows };
	for (int64_t i = 0; i < TDL_TYPED(tiles_of)(b); i++) {
		const int64_t at = TDL_TYPED(row_of)(p, b, i);
		const int64_t n = TDL_TYPED(row_of)(p, b, i + 1) - at;
		const int64_t row = b->row + at;
		left[i] = (TDL_TYPED(panel)){ s->left[i], TDL_ROWS };
		if (windows)
			TDL_TYPED(pack_windows)
			(p, &p->left, s, b, row, n, TDL_ROWS, s->left[i], &l);
		else
			left[i] = TDL_TYPED(panel_of)(
				p, &p->left, b, (b->ncols + cols - 1) / cols,
				row, n, TDL_ROWS, s->left[i]);
	}
}

static void TDL_TYPED(add_depth)(const tdl_product *p, TDL_TYPED(panels) * s,
				 const TDL_TYPED(block) * b)
{
	TDL_TYPED(panel) left[TDL_ROW_TILES];
	TDL_TYPED(find_rows)(p, s, b, left);
	if (p->right.planes && !p->right.kept)
		TDL_TYPED(add_windows)(p, s, b, left);
	else
		TDL_TYPED(add_cols)(p, s, b, left);
}

static void TDL_TYPED(add_block)(const tdl_product *p, TDL_TYPED(panels) * s,
				 TDL_TYPED(block) b)
{
	for (; !b.last; b.depth += TDL_DEPTH) {
		b.first = b.depth == 0;
		b.last = b.depth + TDL_DEPTH >= p->depth;
		b.ndepth = tdl_min(TDL_DEPTH, p->depth - b.depth);
		TDL_TYPED(add_depth)(p, s, &b);
	}
}

/* n in parts of at most `most`, which are about the same and whole tiles of
 * `tile`: their length. */
static int64_t TDL_TYPED(share)(int64_t n, int64_t most, int64_t tile)
{
	const int64_t parts = tdl_max(1, (n + most - 1) / most);
	return ((n + parts - 1) / parts + tile - 1) / tile * tile;
}

/* Blocks have as many rows as there is room for, and columns beside them. */
static inline void TDL_TYPED(product)(const tdl_product *p)
{
	TDL_TYPED(panels) *s = p->args->scratch;
	TDL_TYPED(find_places)(TDL_COLS(TDL_T), s->packed);
	const int64_t rows = TDL_TYPED(share)(p->rows, TDL_ROW_TILES * TDL_ROWS,
					     TDL_ROWS);
	const int64_t most = TDL_ALL_TILES / tdl_max(1, rows / TDL_ROWS);
	const int64_t cols =
		p->depth <= TDL_DEPTH
			? tdl_max(1, p->cols)
			: TDL_TYPED(share)(p->cols, most * TDL_COLS(TDL_T),
					  TDL_COLS(TDL_T));
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

/* Packs tiles i of n of a factor, `count' rows or columns of `width' each, to
 * where it is kept. */
static void TDL_TYPED(keep)(const tdl_product *p, const tdl_factor *f,
			    int64_t count, int64_t width, int64_t i, int64_t n)
{
	const int64_t all = (count + width - 1) / width;
	for (int64_t t = all * i / n; t < all * (i + 1) / n; t++)
		for (int64_t d = 0; d < p->depth; d += TDL_DEPTH) {
			const int64_t rest = tdl_min(width, count - t * width);
			const TDL_TYPED(block) b = {
				.depth = d,
				.ndepth = tdl_min(TDL_DEPTH, p->depth - d)
			};
			TDL_T *to = (TDL_T *)f->kept +
				    (t * p->depth + d) * width;
			if (rest < width)
				memset(to, 0, (size_t)(b.ndepth * width) *
						      sizeof(TDL_T));
			if (TDL_TYPED(lies)(f, t * width, rest))
				TDL_TYPED(pack)
				(f, &b, t * width, rest, width, to);
			else
				f->pack(p, d, b.ndepth, t * width, rest, to);
		}
}

/* The same of the factors that are asked for. */
static inline void TDL_TYPED(fill)(const tdl_product *p)
{
	const tdl_kept *k = p->args->kept;
	if (k->fill & 1)
		TDL_TYPED(keep)(p, &p->left, p->rows, TDL_ROWS, k->i, k->n);
	if (k->fill & 2)
		TDL_TYPED(keep)
		(p, &p->right, p->cols, TDL_COLS(TDL_T), k->i, k->n);
}

#include "tdl/planes.h"
#include "tdl/sums.h"

#undef TDL_ROW_TILES
#undef TDL_ALL_TILES
#undef TDL_T
#undef TDL_TYPED
#undef TDL_FMA
