#include "config.h"

#include "compiler/lower/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "plan/lifetimes.h"

/* The latest of some instants for each byte of the arena.  Bytes between two
 * ends of buffers form a cell.  Cells are the leaves of a binary tree: `all' is
 * the latest instant given to a whole subtree, `any' the latest given to any
 * cell below. */
typedef struct latest {
	int nleaves; /* a power of two */
	double *all, *any;
} latest;

typedef struct timeline {
	const plan *p;
	int ncells;
	int64_t *cells; /* lower ends of cells, ascending */
	latest written, used;
	double ready; /* when the current instruction can begin */
} timeline;

typedef struct span {
	int from, to; /* cells [from, to) */
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

/* Visits bottom up the subtrees that make up the span.  All nodes above them
 * are above the first or the last cell. */
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

/* The cells of a buffer; none if it has no bytes. */
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

/* Waits for everything that instruction i needs. */
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

/* The instants at which streams become free and places are written, as a turn
 * begins.  Instants up to `floor' do not delay any later instruction. */
typedef struct moment {
	double free_at[2], floor;
	int n;
	const double *instants;
} moment;

/* Relative rounding error of differences between instants. */
static const double rounding = 1e-12;

/* Whether y is x plus that many seconds. */
static bool is_shifted(double x, double y, double by)
{
	return fabs(y - x - by) <= rounding * y;
}

/* Whether an instant is the same in both moments, relative to the begin of the
 * turn. */
static bool is_alike(const moment *x, const moment *y, double a, double b,
		     double by)
{
	return is_shifted(a, b, by) || (a <= x->floor && b <= y->floor);
}

/* The seconds between two moments that are otherwise equal relative to the
 * begin of their turns; -1 if they are not. */
static double seconds_between(moment *x, moment *y)
{
	double by = 0;
	for (int i = 0; i < 2; i++)
		by = fmax(by, y->free_at[i] - x->free_at[i]);
	x->floor = y->floor = INFINITY;
	for (int i = 0; i < 2; i++)
		if (y->free_at[i] > x->free_at[i]) {
			x->floor = fmin(x->floor, x->free_at[i]);
			y->floor = fmin(y->floor, y->free_at[i]);
		}
	for (int i = 0; i < 2; i++)
		if (!is_alike(x, y, x->free_at[i], y->free_at[i], by))
			return -1;
	for (int i = 0; i < x->n; i++)
		if (!is_alike(x, y, x->instants[i], y->instants[i], by))
			return -1;
	return by;
}

/* A run that leaves out turns.  The moments are those at which its turns before
 * the last one begin. */
typedef struct skipping {
	int at[2]; /* indices of instructions */
	moment moments[2];
	int nfound;
	/* The least instants for which later instructions waited, by moment. */
	double least[2];
} skipping;

/* For a program with at least three turns, of the length of one turn. */
static skipping skipping_new(const plan *p, int more)
{
	int turns = p->loop.turns - more;
	int each = (p->body_end - p->body_begin) / turns;
	return (skipping){ .at = { p->body_end - 2 * each,
				   p->body_end - each },
			   .least = { INFINITY, INFINITY } };
}

static bool is_next(const skipping *k, int i)
{
	return k->nfound < 2 && i == k->at[k->nfound];
}

static void note_begin(skipping *k, double at)
{
	for (int i = 0; i < k->nfound; i++)
		k->least[i] = fmin(k->least[i], at);
}

/* The end of a run that leaves out `more' turns and would otherwise end at
 * `end'; -1 if it cannot be told. */
static double end_with(skipping *k, int more, double end)
{
	double by = k->nfound == 2
			    ? seconds_between(&k->moments[0], &k->moments[1])
			    : -1;
	for (int i = 0; i < 2; i++)
		if (k->least[i] < k->moments[i].floor)
			by = -1;
	return by < 0 ? -1 : end + more * by;
}

/* The current moment of a timeline, in a. */
static moment moment_of(arena *a, const timeline *l, const double *free_at)
{
	int n = 2 * l->written.nleaves;
	double *all = ARENA_ARRAY(a, double, 4 * (size_t)n);
	const double *from[] = { l->written.all, l->written.any, l->used.all,
				 l->used.any };
	for (int i = 0; i < 4; i++)
		memcpy(&all[i * n], from[i], (size_t)n * sizeof(*all));
	return (moment){ { free_at[0], free_at[1] }, 0, 4 * n, all };
}

/* k: NULL if no turns are left out. */
static void run(arena *tmp, const plan *p, const double *seconds, double *end,
		skipping *k)
{
	timeline l = { .p = p };
	double free_at[2] = { 0, 0 };
	find_cells(tmp, &l);
	l.written = latest_new(tmp, l.ncells);
	l.used = latest_new(tmp, l.ncells);
	for (int i = 0, next; i < p->ninstrs; i = next) {
		const plan_instr *in = &p->program[i];
		bool moves = plan_moves(in) && in->collective != COLL_LOCAL;
		if (k && is_next(k, i))
			k->moments[k->nfound++] = moment_of(tmp, &l, free_at);
		next = plan_bucket_end(p, i);
		l.ready = free_at[moves];
		for (int j = i; j < next; j++)
			await_all(&l, j);
		if (k)
			note_begin(k, l.ready);
		for (int j = i; j < next; j++)
			end[j] = l.ready += seconds[j];
		for (int j = i; j < next; j++)
			note_all(&l, j);
		free_at[moves] = l.ready;
	}
}

void timeline_run(const plan *p, const double *seconds, double *end)
{
	arena *tmp = arena_new();
	run(tmp, p, seconds, end, NULL);
	arena_free(tmp);
}

double timeline_end(const plan *p, const double *seconds, int more)
{
	arena *tmp = arena_new();
	double *end = ARENA_ARRAY(tmp, double, p->ninstrs), last = 0;
	skipping k = { .nfound = 0 };
	if (more > 0)
		k = skipping_new(p, more);
	run(tmp, p, seconds, end, more > 0 ? &k : NULL);
	for (int i = 0; i < p->ninstrs; i++)
		raise(&last, end[i]);
	if (more > 0)
		last = end_with(&k, more, last);
	arena_free(tmp);
	return last;
}

/* ---- without places ---------------------------------------------------- */

typedef struct arrivals {
	double *written; /* by buffer */
	double ready;	 /* when the current instruction can begin */
} arrivals;

static void await_arrival(void *to, int buffer)
{
	arrivals *x = to;
	raise(&x->ready, x->written[buffer]);
}

/* The instants at which the results of a turn are written, for the turn whose
 * instructions end before i.  Results from before the loop are there at
 * `before' at the latest. */
static moment arrivals_at(arena *a, const plan *p, const arrivals *x, int i,
			  int length, double before, const double *free_at)
{
	double *all = ARENA_ARRAY(a, double, length + 1);
	for (int j = 0; j < length; j++)
		all[j] = x->written[p->program[i - length + j].to];
	all[length] = before;
	return (moment){ { free_at[0], free_at[1] }, 0, length + 1, all };
}

static double latest_of(const arrivals *x, int n)
{
	double last = 0;
	for (int i = 0; i < n; i++)
		raise(&last, x->written[i]);
	return last;
}

/* Executes instructions [begin, end) as one.  The stream is free at *free_at;
 * *from is set to when they begin. */
static void arrive(arrivals *x, const plan *p, const double *seconds,
		   int begin, int end, double *free_at, double *from)
{
	x->ready = *free_at;
	for (int i = begin; i < end; i++)
		plan_reads(p, &p->program[i], await_arrival, x);
	*from = x->ready;
	for (int i = begin; i < end; i++)
		x->ready += seconds[i];
	for (int i = begin; i < end; i++)
		raise(&x->written[p->program[i].to], x->ready);
	*free_at = x->ready;
}

double timeline_least(const plan *p, const double *seconds, int more)
{
	arena *tmp = arena_new();
	arrivals x = { .written = ARENA_ARRAY(tmp, double, p->nbuffers) };
	double free_at[2] = { 0, 0 }, before = 0, from;
	skipping k = { .nfound = 0 };
	if (more > 0)
		k = skipping_new(p, more);
	for (int i = 0, next; i < p->ninstrs; i = next) {
		const plan_instr *in = &p->program[i];
		bool moves = plan_moves(in) && in->collective != COLL_LOCAL;
		if (more > 0 && i == p->body_begin)
			before = latest_of(&x, p->nbuffers);
		if (more > 0 && is_next(&k, i))
			k.moments[k.nfound++] = arrivals_at(
				tmp, p, &x, i, k.at[1] - k.at[0], before,
				free_at);
		next = plan_bucket_end(p, i);
		arrive(&x, p, seconds, i, next, &free_at[moves], &from);
		note_begin(&k, from);
	}
	double last = fmax(free_at[0], free_at[1]);
	if (more > 0)
		last = end_with(&k, more, last);
	arena_free(tmp);
	return last;
}
