/* Columns, or rows, of products that are read in a window, tdl_window: a
 * tdl_planes.
 *
 * For each s, and each remainder of rows by the step of a column, a plane has
 * the rows of the image one behind the other, without a border between them: a
 * row has an element for each column of a row of the result.  So columns beside
 * each other, also over the end of a row, lie beside each other for every r,
 * which is so many rows further on.
 *
 * A part of tdl/product.h, which includes it once per type. */
#ifndef TDL_PLANES_H
#define TDL_PLANES_H

#include "tdl/generated.h"

#endif

/* Columns [begin, end) of a row of the result read inside of the image, as term
 * s does: column j at x + step * j. */
typedef struct TDL_TYPED(edges) {
	int64_t begin, end, x;
} TDL_TYPED(edges);

static inline TDL_TYPED(edges) TDL_TYPED(edges_of)(const tdl_window *w,
						   int64_t s)
{
	const int64_t n = w->size[1], step = w->step[1];
	const int64_t x = w->first[1] + s * w->term[1];
	int64_t begin = w->lo[1] - x, end = w->hi[1] - x;
	if (step != 1) {
		begin = tdl_ceil_div(begin, step);
		end = tdl_ceil_div(end, step);
	}
	begin = tdl_clamp(begin, 0, n);
	return (TDL_TYPED(edges)){ begin, tdl_clamp(end, begin, n), x };
}

/* Copies n elements; the last vector may begin in the one before. */
static inline void TDL_TYPED(copy_row)(TDL_T *to, const TDL_T *from, int64_t n)
{
	enum { WIDTH = TDL_VECTOR / sizeof(TDL_T) };
	int64_t i = 0;
	if (n < WIDTH) {
		memcpy(to, from, (size_t)n * sizeof(TDL_T));
		return;
	}
	for (; i + WIDTH < n; i += WIDTH)
		*(TDL_TYPED(lanes) *)(void *)(to + i) =
			*(const TDL_TYPED(lanes) *)(const void *)(from + i);
	*(TDL_TYPED(lanes) *)(void *)(to + n - WIDTH) =
		*(const TDL_TYPED(lanes) *)(const void *)(from + n - WIDTH);
}

static inline void TDL_TYPED(fill_row)(TDL_T *to, TDL_T x, int64_t n)
{
	if (n > 0)
		to[0] = x;
	for (int64_t j = 1; j < n; j++)
		to[j] = x;
}

/* Row y of an image for all columns of a row of the result. */
static inline void TDL_TYPED(plane_row)(const tdl_window *w,
					TDL_TYPED(edges) e, int64_t at,
					int64_t y, TDL_T *to)
{
	const TDL_T *in = (const TDL_T *)w->in + at + y * w->row + e.x;
	const int64_t n = w->size[1], step = w->step[1];
	const TDL_T other = (TDL_T)w->other;
	if (y < w->lo[0] || y >= w->hi[0])
		e.begin = e.end = n;
	TDL_TYPED(fill_row)(to, other, e.begin);
	if (step == 1 && e.begin < e.end)
		TDL_TYPED(copy_row)
		(to + e.begin, in + e.begin, e.end - e.begin);
	else if (step == 2)
		for (int64_t j = e.begin; j < e.end; j++)
			to[j] = in[j * 2];
	else
		for (int64_t j = e.begin; j < e.end; j++)
			to[j] = in[j * step];
	TDL_TYPED(fill_row)(to + e.end, other, n - e.end);
}

/* Rows [y, y + n) of an image whose rows follow each other in memory as those
 * of the plane do: one copy, and its borders. */
static inline void TDL_TYPED(plane_dense)(const tdl_window *w,
					  TDL_TYPED(edges) e, int64_t at,
					  int64_t y, int64_t n, TDL_T *to)
{
	const int64_t cols = w->size[1], inside = e.end - e.begin;
	const int64_t first = tdl_clamp(w->lo[0] - y, 0, n);
	const int64_t end = tdl_clamp(w->hi[0] - y, first, n);
	const TDL_T *in = (const TDL_T *)w->in + at + y * w->row + e.x;
	const TDL_T other = (TDL_T)w->other;
	if (end > first && inside > 0)
		TDL_TYPED(copy_row)
		(to + first * cols + e.begin, in + first * cols + e.begin,
		 (end - first - 1) * cols + inside);
	for (int64_t u = first; u < end; u++) {
		for (int64_t j = 0; j < e.begin; j++)
			to[u * cols + j] = other;
		for (int64_t j = e.end; j < cols; j++)
			to[u * cols + j] = other;
	}
	TDL_TYPED(fill_row)(to, other, first * cols);
	TDL_TYPED(fill_row)(to + end * cols, other, (n - end) * cols);
}

/* Terms [lo, hi) of a channel that begins at `at' of the input, and columns
 * [first, first + n) of its image: of row `row' and `more' rows behind it. */
typedef struct TDL_TYPED(part) {
	int64_t at, lo, hi, first, n, row, more;
} TDL_TYPED(part);

/* The row of a column's window that a term reads: row y of step * y + phase. */
typedef struct TDL_TYPED(term) {
	int64_t y, phase;
} TDL_TYPED(term);

/* Goes on by the distance `by' of terms. */
static inline void TDL_TYPED(next_term)(TDL_TYPED(term) *t,
					TDL_TYPED(term) by, int64_t step)
{
	t->y += by.y;
	t->phase += by.phase;
	if (t->phase >= step) {
		t->phase -= step;
		t->y++;
	}
}

/* The rows of the plane that terms (r, s) of a part with one phase read: from
 * *first on; none if there are no such terms. */
static inline int64_t TDL_TYPED(plane_rows)(const tdl_window *w,
					    const TDL_TYPED(part) *p,
					    TDL_TYPED(term) by, int64_t s,
					    int64_t phase, int64_t *first)
{
	TDL_TYPED(term) at = { 0 };
	int64_t lo = INT64_MAX, hi = INT64_MIN;
	for (int64_t r = 0; r < w->terms[0]; r++) {
		const int64_t t = r * w->terms[1] + s;
		if (t >= p->lo && t < p->hi && at.phase == phase) {
			lo = tdl_min(lo, at.y);
			hi = tdl_max(hi, at.y);
		}
		TDL_TYPED(next_term)(&at, by, w->step[0]);
	}
	*first = lo;
	return lo > hi ? 0 : hi - lo + 1 + p->more;
}

/* Has rows that the next channel's planes are made of brought nearer. */
static inline void TDL_TYPED(fetch_rows)(const tdl_window *w,
					 const TDL_TYPED(part) *p, int64_t x,
					 int64_t y, int64_t n)
{
	enum { LINE = 64 / sizeof(TDL_T) };
	const int64_t at = p->at + w->channel + x;
	const int64_t cols = w->size[1] * w->step[1];
	for (int64_t u = 0; u < n; u++)
		for (int64_t j = 0; j < cols; j += LINE)
			__builtin_prefetch((const TDL_T *)w->in + at +
					   (y + u * w->step[0]) * w->row + j);
}

/* Writes to `plane' what terms (r, s) of a part with one phase read, and to
 * `place' where from `base' on that of the first column is.  Returns where the
 * plane ends. */
static TDL_T *TDL_TYPED(make_plane)(const tdl_window *w,
				    const TDL_TYPED(part) *p,
				    TDL_TYPED(term) by, int64_t s,
				    int64_t phase, TDL_T *plane,
				    const TDL_T *base, int64_t *place)
{
	const int64_t cols = w->size[1], i = p->row;
	TDL_TYPED(term) at = { 0 };
	int64_t y, n = TDL_TYPED(plane_rows)(w, p, by, s, phase, &y);
	if (n == 0)
		return plane;
	const TDL_TYPED(edges) e = TDL_TYPED(edges_of)(w, s);
	const int64_t first = w->first[0] + (i + y) * w->step[0] + phase;
	const bool dense = w->row == cols && w->step[0] == 1 && w->step[1] == 1;
	if (s == 0)
		TDL_TYPED(fetch_rows)(w, p, e.x, first, n);
	if (dense)
		TDL_TYPED(plane_dense)(w, e, p->at, first, n, plane);
	for (int64_t u = 0; !dense && u < n; u++)
		TDL_TYPED(plane_row)
		(w, e, p->at, first + u * w->step[0], plane + u * cols);
	for (int64_t r = 0; r < w->terms[0]; r++) {
		const int64_t t = r * w->terms[1] + s;
		if (t >= p->lo && t < p->hi && at.phase == phase)
			place[t - p->lo] = plane - base + p->first +
					   (at.y - y - i) * cols;
		TDL_TYPED(next_term)(&at, by, w->step[0]);
	}
	return plane + n * cols;
}

/* The most elements of a plane, of as many planes as `ndepth' terms from
 * `depth' on have, besides a tile that is read behind their end. */
static inline int64_t TDL_TYPED(plane_room)(const tdl_window *w, int64_t depth,
					    int64_t ndepth)
{
	const int64_t room = (TDL_PANELS * TDL_DEPTH - 1) * TDL_COLS(TDL_T);
	const int64_t terms = w->terms[0] * w->terms[1];
	const int64_t channels = (depth % terms + ndepth + terms - 1) / terms;
	return room / (tdl_max(1, channels) * w->terms[1] *
		       tdl_min(w->step[0], w->terms[0]));
}

/* Columns of an image from column *first on for whose planes, of so many
 * elements, there is room: with all columns of their rows, or, where these are
 * wide, part of one row.  There *w becomes the window of that part, and *first
 * the number of its first column in it. */
static inline int64_t TDL_TYPED(plane_columns)(tdl_window *w, int64_t room,
					       int64_t *first)
{
	const int64_t cols = TDL_COLS(TDL_T), size = w->size[1];
	const int64_t j = *first % size;
	const int64_t all = (w->terms[0] - 1) * w->term[0];
	const int64_t rows = (all < 0 ? -all : all) / w->step[0] + 1;
	int64_t n = size > room ? 0 : (room - (rows + 1) * size) / cols * cols;
	if (n > 0)
		return n;
	n = size - j;
	if (n > room / rows)
		n = room / rows / cols * cols;
	w->first[1] += j * w->step[1];
	w->size[1] = n;
	*first = *first / size * n;
	return n;
}

static inline int64_t TDL_TYPED(planes)(const tdl_window *window,
					int64_t depth, int64_t ndepth,
					int64_t first, int64_t n, void *planes,
					int64_t *place)
{
	tdl_window w = *window;
	const int64_t cols = TDL_COLS(TDL_T), step = w.step[0];
	const int64_t size = w.size[0] * w.size[1];
	const int64_t terms = w.terms[0] * w.terms[1];
	const TDL_TYPED(term) by = { tdl_div(w.term[0], step),
				     tdl_mod(w.term[0], step) };
	TDL_TYPED(part) p = { .lo = depth % terms, .first = first % size };
	TDL_T *end = planes;
	const int64_t rest = size - p.first;
	const int64_t room = TDL_TYPED(plane_room)(&w, depth, ndepth);
	p.n = TDL_TYPED(plane_columns)(&w, room, &p.first);
	p.n = tdl_min(n, tdl_min(rest, p.n));
	if (p.n <= 0)
		return 0;
	p.row = p.first / w.size[1];
	p.more = (p.first + p.n - 1) / w.size[1] - p.row;
	p.at = first / size * w.image + depth / terms * w.channel;
	for (int64_t d = 0; d < ndepth; d += p.hi - p.lo, p.lo = 0) {
		p.hi = tdl_min(terms, p.lo + ndepth - d);
		for (int64_t s = 0; s < w.terms[1]; s++)
			for (int64_t phase = 0; phase < step; phase++)
				end = TDL_TYPED(make_plane)(&w, &p, by, s,
							    phase, end, planes,
							    place + d);
		p.at += w.channel;
	}
	memset(end, 0, (size_t)cols * sizeof(TDL_T));
	return p.n;
}
