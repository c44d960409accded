/* Panels of factors of products: where they lie in memory, and copies of them.
 *
 * A part of tdl/product.h, which includes it once per type. */
#ifndef TDL_PANELS_H
#define TDL_PANELS_H

#include "tdl/generated.h"

#endif

/* Whether n rows or columns of a factor from `first' on lie in even steps. */
static inline bool TDL_TYPED(lies)(const tdl_factor *f, int64_t first,
				   int64_t n)
{
	return f->at && (!f->run || first % f->run + n <= f->run);
}

/* Where the first of them lies, at the depth of a block. */
static inline const TDL_T *TDL_TYPED(first_of)(const tdl_factor *f,
					       const TDL_TYPED(block) * b,
					       int64_t first)
{
	const TDL_T *at = (const TDL_T *)f->at + b->depth * f->depth;
	if (!f->run)
		return at + first * f->step;
	return at + first / f->run * f->far + first % f->run * f->step;
}

/* Four rows or columns of a factor that lies along the depth, of n each, to a
 * panel; the next four are fetched meanwhile. */
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
		for (int i = 0; i < 4; i++) {
			memcpy(to + (d + i) * width, &out[i], sizeof(out[i]));
			if (d % 16 == 0)
				__builtin_prefetch(from + (4 + i) * step + d);
		}
	}
	for (; d < n; d++)
		for (int i = 0; i < 4; i++)
			to[d * width + i] = from[i * step + d];
}

/* Packs n rows or columns from `first`, of a factor that lies in memory. */
static void TDL_TYPED(pack)(const tdl_factor *f, const TDL_TYPED(block) * b,
			    int64_t first, int64_t n, int64_t width, TDL_T *to)
{
	const TDL_T *from = TDL_TYPED(first_of)(f, b, first);
	int64_t i = 0;
	for (int64_t d = 0; f->step == 1 && d < b->ndepth; d++)
		memcpy(to + d * width, from + d * f->depth,
		       (size_t)n * sizeof(TDL_T));
	if (f->step == 1)
		return;
	for (; f->depth == 1 && i + 4 <= n; i += 4)
		TDL_TYPED(pack_four)
		(from + i * f->step, f->step, b->ndepth, to + i, width);
	for (; i < n; i++)
		for (int64_t d = 0; d < b->ndepth; d++)
			to[d * width + i] = from[i * f->step + d * f->depth];
}

/* Whether panels of rows that `uses' tiles read are read where they lie. */
static inline bool TDL_TYPED(stays)(const tdl_factor *f, int64_t uses,
				    int64_t width)
{
	return uses < TDL_FEW || f->depth == width;
}

/* The same of a panel of n rows or columns from `first'. */
static inline bool TDL_TYPED(in_place)(const tdl_factor *f, int64_t uses,
				       int64_t first, int64_t n, int64_t width)
{
	return n == width && f->step == 1 && TDL_TYPED(lies)(f, first, n) &&
	       TDL_TYPED(stays)(f, uses, width);
}

/* A panel of n rows or columns from `first`, which `uses` tiles read: where it
 * lies, or packed to `to`; what it lacks to a whole tile, `width` of them,
 * becomes zero. */
static TDL_TYPED(panel)
TDL_TYPED(panel_of)(const tdl_product *p, const tdl_factor *f,
		    const TDL_TYPED(block) * b, int64_t uses, int64_t first,
		    int64_t n, int64_t width, TDL_T *to)
{
	if (f->kept)
		return (TDL_TYPED(panel)){ (const TDL_T *)f->kept +
						   first * p->depth +
						   b->depth * width,
					   width };
	if (TDL_TYPED(in_place)(f, uses, first, n, width))
		return (TDL_TYPED(panel)){ TDL_TYPED(first_of)(f, b, first),
					   f->depth };
	if (!b->ndepth)
		return (TDL_TYPED(panel)){ to, width };
	if (n < width)
		memset(to, 0, (size_t)(b->ndepth * width) * sizeof(TDL_T));
	if (TDL_TYPED(lies)(f, first, n))
		TDL_TYPED(pack)(f, b, first, n, width, to);
	else
		f->pack(p, b->depth, b->ndepth, first, n, to);
	return (TDL_TYPED(panel)){ to, width };
}

/* ---- windows ----------------------------------------------------------- */

/* Rows or columns [first, end) of a factor that is read in a window, which are
 * in planes, at s->right and s->other; all that may be is before `until'. */
typedef struct TDL_TYPED(laid) {
	int64_t first, end, until;
} TDL_TYPED(laid);

/* Whether n rows or columns from `first' are in planes, which begin there
 * unless they had the rest of an image already. */
static bool TDL_TYPED(lay)(const tdl_factor *f, TDL_TYPED(panels) * s,
			   const TDL_TYPED(block) * b, int64_t first, int64_t n,
			   TDL_TYPED(laid) *l)
{
	const tdl_window *w = &f->window;
	if (first + n <= l->end ||
	    (first < l->end && l->end % (w->size[0] * w->size[1]) == 0))
		return first + n <= l->end;
	l->first = first;
	l->end = first + f->planes(w, b->depth, b->ndepth, first,
				   l->until - first, s->right, s->other);
	return first + n <= l->end;
}

/* Copies n columns of planes, each depth of which has a place, to a panel. */
static void TDL_TYPED(copy_columns)(TDL_TYPED(columns) from, int64_t ndepth,
				    int64_t n, int64_t width, TDL_T *to)
{
	const int64_t cols = TDL_COLS(TDL_T);
	for (int64_t d = 0; n == cols && d < ndepth; d++)
		memcpy(to + d * width, from.at + from.place[d],
		       TDL_COLS(TDL_T) * sizeof(TDL_T));
	for (int64_t d = 0; n == TDL_ROWS && d < ndepth; d++)
		memcpy(to + d * width, from.at + from.place[d],
		       TDL_ROWS * sizeof(TDL_T));
	for (int64_t d = 0; n != cols && n != TDL_ROWS && d < ndepth; d++)
		for (int64_t i = 0; i < n; i++)
			to[d * width + i] = from.at[from.place[d] + i];
}

/* Packs n rows or columns that are read in a window to a panel, of `width' of
 * them, from planes as far as there is room for these.  It is not inlined: most
 * products have no windows, and take a compiler half as long again with it. */
static __attribute__((noinline)) void TDL_TYPED(pack_windows)(
	const tdl_product *p, const tdl_factor *f, TDL_TYPED(panels) * s,
	const TDL_TYPED(block) * b, int64_t first, int64_t n, int64_t width,
	TDL_T *to, TDL_TYPED(laid) *l)
{
	if (n < width)
		memset(to, 0, (size_t)(b->ndepth * width) * sizeof(TDL_T));
	for (int64_t i = 0, m; i < n; i += m) {
		TDL_TYPED(lay)(f, s, b, first + i, n - i, l);
		m = tdl_min(n - i, l->end - first - i);
		if (m <= 0) {
			f->pack(p, b->depth, b->ndepth, first, n, to);
			return;
		}
		TDL_TYPED(copy_columns)
		((TDL_TYPED(columns)){ s->right[0] + (first + i - l->first),
				       s->other },
		 b->ndepth, m, width, to + i);
	}
}

/* ---- columns ----------------------------------------------------------- */

/* Copies n panels of columns that lie in rows, row by row; rows that follow are
 * fetched meanwhile.  Panels that do not lie so are left out. */
static void TDL_TYPED(copy_panels)(const tdl_factor *f,
				   const TDL_TYPED(block) * b, int64_t first,
				   int64_t n, TDL_TYPED(panels) * s)
{
	enum { AHEAD = 8 };
	const int cols = TDL_COLS(TDL_T);
	const TDL_T *from[TDL_PANELS];
	TDL_T *to[TDL_PANELS];
	int64_t m = 0;
	for (int64_t k = 0; k < n; k++)
		if (TDL_TYPED(lies)(f, first + k * cols, cols)) {
			from[m] = TDL_TYPED(first_of)(f, b, first + k * cols);
			to[m++] = s->right[k];
		}
	for (int64_t d = 0; d < b->ndepth; d++)
		for (int64_t k = 0; k < m; k++) {
			const TDL_T *x = from[k] + d * f->depth;
			TDL_TYPED(fetch)(x + AHEAD * f->depth);
			memcpy(to[k] + d * cols, x, cols * sizeof(TDL_T));
		}
}
