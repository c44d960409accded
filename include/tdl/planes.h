/* Columns of products that are read in a window, tdl_window: a tdl_planes.
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

/* Row y of an image for all columns of a row of the result, as term s reads
 * it. */
static inline void TDL_TYPED(plane_row)(const tdl_window *w, int64_t at,
					int64_t y, int64_t s, TDL_T *to)
{
	const TDL_T *in = w->in;
	const int64_t n = w->size[1], step = w->step[1];
	const int64_t x = w->first[1] + s * w->term[1];
	const bool inside = w->lo[0] <= y && y < w->hi[0];
	int64_t begin = w->lo[1] - x, end = w->hi[1] - x;
	if (step != 1) {
		begin = tdl_ceil_div(begin, step);
		end = tdl_ceil_div(end, step);
	}
	begin = inside ? tdl_clamp(begin, 0, n) : n;
	end = inside ? tdl_clamp(end, begin, n) : n;
	for (int64_t j = 0; j < begin; j++)
		to[j] = (TDL_T)w->other;
	at += y * w->row + x;
	if (step == 1 && begin < end)
		memcpy(to + begin, in + at + begin,
		       (size_t)(end - begin) * sizeof(TDL_T));
	else if (step == 2)
		for (int64_t j = begin; j < end; j++)
			to[j] = in[at + j * 2];
	else
		for (int64_t j = begin; j < end; j++)
			to[j] = in[at + j * step];
	for (int64_t j = end; j < n; j++)
		to[j] = (TDL_T)w->other;
}

/* Terms [lo, hi) of a channel that begins at `at' of the input, and columns
 * [first, first + n) of its image. */
typedef struct TDL_TYPED(part) {
	int64_t at, lo, hi, first, n;
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
	return lo > hi ? 0
		       : hi - lo + 1 + (p->first + p->n - 1) / w->size[1] -
				 p->first / w->size[1];
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
	const int64_t cols = w->size[1], i = p->first / cols;
	TDL_TYPED(term) at = { 0 };
	int64_t y, n = TDL_TYPED(plane_rows)(w, p, by, s, phase, &y);
	for (int64_t u = 0; u < n; u++)
		TDL_TYPED(plane_row)
		(w, p->at, w->first[0] + (i + y + u) * w->step[0] + phase, s,
		 plane + u * cols);
	for (int64_t r = 0; r < w->terms[0] && n > 0; r++) {
		const int64_t t = r * w->terms[1] + s;
		if (t >= p->lo && t < p->hi && at.phase == phase)
			place[t - p->lo] = plane - base + p->first +
					   (at.y - y - i) * cols;
		TDL_TYPED(next_term)(&at, by, w->step[0]);
	}
	return plane + n * cols;
}

/* The most panels whose planes there is room for, besides a tile that is read
 * behind their end. */
static int64_t TDL_TYPED(plane_panels)(const tdl_window *w)
{
	const int64_t cols = TDL_COLS(TDL_T);
	const int64_t room = (TDL_PANELS * TDL_DEPTH - 1) * cols;
	const int64_t terms = w->terms[0] * w->terms[1];
	const int64_t all = (w->terms[0] - 1) * w->term[0];
	const int64_t rows = (all < 0 ? -all : all) / w->step[0] + 4;
	const int64_t n = (TDL_DEPTH / terms + 2) * w->terms[1] * w->step[0];
	const int64_t most = room / n - rows * w->size[1];
	if (w->size[1] > room / n)
		return 0;
	return tdl_clamp(most / cols, 0, TDL_PANELS);
}

static inline int64_t TDL_TYPED(planes)(const tdl_window *w, int64_t depth,
					int64_t ndepth, int64_t first,
					int64_t n, void *planes, int64_t *place)
{
	const int64_t cols = TDL_COLS(TDL_T), step = w->step[0];
	const int64_t size = w->size[0] * w->size[1];
	const int64_t terms = w->terms[0] * w->terms[1];
	const int64_t most = TDL_TYPED(plane_panels)(w) * cols;
	const TDL_TYPED(term) by = { tdl_div(w->term[0], step),
				     tdl_mod(w->term[0], step) };
	TDL_TYPED(part) p = { .lo = depth % terms, .first = first % size };
	TDL_T *end = planes;
	p.n = tdl_min(size - p.first, most);
	p.n = p.n < n ? p.n / cols * cols : n;
	if (!p.n)
		return 0;
	p.at = first / size * w->image + depth / terms * w->channel;
	for (int64_t d = 0; d < ndepth; d += p.hi - p.lo, p.lo = 0) {
		p.hi = tdl_min(terms, p.lo + ndepth - d);
		for (int64_t s = 0; s < w->terms[1]; s++)
			for (int64_t phase = 0; phase < step; phase++)
				end = TDL_TYPED(make_plane)(w, &p, by, s, phase,
							    end, planes,
							    place + d);
		p.at += w->channel;
	}
	memset(end, 0, (size_t)cols * sizeof(TDL_T));
	return (p.n + cols - 1) / cols;
}
