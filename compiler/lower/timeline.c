#include "config.h"

#include "compiler/lower/timeline.h"

#include <stdlib.h>

#include "base/checked.h"
#include "plan/lifetimes.h"

/* The latest of some instants for each byte of the arena.  Bytes between two
 * ends of buffers are one cell; cells are the leaves of a binary tree, in which
 * `all` is the latest that a whole subtree was given, `any` the latest that any
 * cell below was. */
typedef struct latest {
	int nleaves; /* a power of two */
	double *all, *any;
} latest;

typedef struct timeline {
	const plan *p;
	int ncells;
	int64_t *cells; /* lower ends of cells, ascending */
	latest written, used;
	double ready; /* of the instruction at hand */
} timeline;

typedef struct span {
	int from, to; /* cells from .. to - 1 */
} span;

/* ---- the latest -------------------------------------------------------- */

static latest latest_new(arena *a, int ncells)
{
	latest x = { .nleaves = power_of_two(ncells) };
	x.all = ARENA_ARRAY(a, double, 2 * (size_t)x.nleaves);
	x.any = ARENA_ARRAY(a, double, 2 * (size_t)x.nleaves);
	return x;
}

static void raise(double *to, double at)
{
	if (*to < at)
		*to = at;
}

static void raise_subtree(latest *x, int root, double at)
{
	raise(&x->all[root], at);
	raise(&x->any[root], at);
}

/* Bottom up over the subtrees that make up the span; those above them are above
 * its first cell or its last. */
static void latest_raise(latest *x, span s, double at)
{
	int lo = s.from + x->nleaves, hi = s.to + x->nleaves;
	for (int l = lo, h = hi; l < h; l /= 2, h /= 2) {
		if (l & 1)
			raise_subtree(x, l++, at);
		if (h & 1)
			raise_subtree(x, --h, at);
	}
	for (int l = lo, h = hi - 1; l >= 1; l /= 2, h /= 2) {
		raise(&x->any[l], at);
		raise(&x->any[h], at);
	}
}

static double latest_in(const latest *x, span s)
{
	int lo = s.from + x->nleaves, hi = s.to + x->nleaves;
	double at = 0;
	for (int l = lo, h = hi; l < h; l /= 2, h /= 2) {
		if (l & 1)
			raise(&at, x->any[l++]);
		if (h & 1)
			raise(&at, x->any[--h]);
	}
	for (int l = lo, h = hi - 1; l >= 1; l /= 2, h /= 2) {
		raise(&at, x->all[l]);
		raise(&at, x->all[h]);
	}
	return at;
}

/* ---- places ------------------------------------------------------------ */

static int by_value(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return (a > b) - (a < b);
}

static void find_cells(arena *a, timeline *l)
{
	const plan *p = l->p;
	int n = 0;
	l->cells = ARENA_ARRAY(a, int64_t, 2 * (size_t)p->nbuffers);
	for (int i = 0; i < p->nbuffers; i++) {
		l->cells[n++] = p->buffers[i].offset;
		l->cells[n++] = p->buffers[i].offset + p->buffers[i].nbytes;
	}
	qsort(l->cells, (size_t)n, sizeof(*l->cells), by_value);
	for (int i = 0; i < n; i++)
		if (l->ncells == 0 || l->cells[l->ncells - 1] < l->cells[i])
			l->cells[l->ncells++] = l->cells[i];
}

static int cell_at(const timeline *l, int64_t offset)
{
	int lo = 0, hi = l->ncells;
	while (lo + 1 < hi) {
		int mid = (lo + hi) / 2;
		if (l->cells[mid] <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* The cells of a buffer; none where it has no bytes. */
static span place_of(const timeline *l, int buffer)
{
	const plan_buffer *b = &l->p->buffers[buffer];
	return (span){ cell_at(l, b->offset),
		       cell_at(l, b->offset + b->nbytes) };
}

/* ---- instructions ------------------------------------------------------ */

static void await_written(void *to, int buffer)
{
	timeline *l = to;
	span s = place_of(l, buffer);
	if (s.from < s.to)
		raise(&l->ready, latest_in(&l->written, s));
}

static void await_unused(timeline *l, int buffer)
{
	span s = place_of(l, buffer);
	if (s.from < s.to)
		raise(&l->ready, latest_in(&l->used, s));
}

static void note_read(void *to, int buffer)
{
	timeline *l = to;
	span s = place_of(l, buffer);
	if (s.from < s.to)
		latest_raise(&l->used, s, l->ready);
}

static void note_write(timeline *l, int buffer)
{
	span s = place_of(l, buffer);
	note_read(l, buffer);
	if (s.from < s.to)
		latest_raise(&l->written, s, l->ready);
}

/* Waits for all that instruction i needs. */
static void await_all(timeline *l, int i)
{
	const plan_instr *in = &l->p->program[i];
	plan_reads(l->p, in, await_written, l);
	await_unused(l, in->to);
}

static void note_all(timeline *l, int i)
{
	const plan_instr *in = &l->p->program[i];
	plan_reads(l->p, in, note_read, l);
	note_write(l, in->to);
}

void timeline_run(const plan *p, const double *seconds, double *end)
{
	arena *tmp = arena_new();
	timeline l = { .p = p };
	double free_at[2] = { 0, 0 };
	find_cells(tmp, &l);
	l.written = latest_new(tmp, l.ncells);
	l.used = latest_new(tmp, l.ncells);
	for (int i = 0, next; i < p->ninstrs; i = next) {
		const plan_instr *in = &p->program[i];
		bool moves = plan_moves(in) && in->collective != COLL_LOCAL;
		next = plan_bucket_end(p, i);
		l.ready = free_at[moves];
		for (int j = i; j < next; j++)
			await_all(&l, j);
		for (int j = i; j < next; j++)
			end[j] = l.ready += seconds[j];
		for (int j = i; j < next; j++)
			note_all(&l, j);
		free_at[moves] = l.ready;
	}
	arena_free(tmp);
}

double timeline_end(const plan *p, const double *seconds)
{
	arena *tmp = arena_new();
	double *end = ARENA_ARRAY(tmp, double, p->ninstrs), last = 0;
	timeline_run(p, seconds, end);
	for (int i = 0; i < p->ninstrs; i++)
		raise(&last, end[i]);
	arena_free(tmp);
	return last;
}

/* ---- without places ---------------------------------------------------- */

typedef struct arrivals {
	double *written; /* by buffer */
	double ready;	 /* of the instruction at hand */
} arrivals;

static void await_arrival(void *to, int buffer)
{
	arrivals *x = to;
	raise(&x->ready, x->written[buffer]);
}

double timeline_least(const plan *p, const double *seconds)
{
	arena *tmp = arena_new();
	arrivals x = { .written = ARENA_ARRAY(tmp, double, p->nbuffers) };
	double free_at[2] = { 0, 0 };
	for (int i = 0, next; i < p->ninstrs; i = next) {
		const plan_instr *in = &p->program[i];
		bool moves = plan_moves(in) && in->collective != COLL_LOCAL;
		next = plan_bucket_end(p, i);
		x.ready = free_at[moves];
		for (int j = i; j < next; j++)
			plan_reads(p, &in[j - i], await_arrival, &x);
		for (int j = i; j < next; j++)
			x.ready += seconds[j];
		for (int j = i; j < next; j++)
			raise(&x.written[in[j - i].to], x.ready);
		free_at[moves] = x.ready;
	}
	arena_free(tmp);
	return free_at[0] > free_at[1] ? free_at[0] : free_at[1];
}
