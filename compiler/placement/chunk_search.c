/* Searches splits for interleaved schedules.
 *
 * Every measure is the greatest of *rows*.  A row is a sum over the chunks: the
 * bytes of a device at an instant of the schedule, the time of a device, or the
 * step if it is the longest device.  The ratio of a row is its value over its
 * limit; for the goal the limit is the best value known.  A split is better if
 * all ratios of the goal are below 1, and allowed if all others are at most 1.
 *
 * - Bound: for any weights of rows with sum 1, the split with the least
 *   weighted sum of ratios is found by a dynamic program over prefixes, as the
 *   sum is taken chunk by chunk.  If the least sum is 1 or more, no split is
 *   better.  Weights are raised where the ratios of that split are large
 *   (multiplicative weights).  In addition, no device needs less than its most
 *   expensive chunk alone.
 * - Splits: those that the programs give, improved by moving one cut at a time.
 * - Branch and bound: sets cuts from the first on.  Bounds for the remaining
 *   chunks are those of the program, together with what the devices have
 *   already. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "compiler/placement/chunks.h"

enum {
	MOST_ROUNDS = 240,	  /* rounds of weights */
	/* intervals that the programs of these look at */
	MOST_PROGRAM = 300000000,
	MOST_KICKS = 300,
	/* instants times chunks of devices, by moves */
	MOST_MOVES = 100000000,
	MOST_BRANCHES = 500000000, /* the same, plus cuts, by branches */
	POWER = 4,		   /* a ratio counts as its 2^POWER-th power */
};

/* The shares of an interval's tables in a row. */
typedef struct factors {
	double time, fixed, kept, running;
} factors;

/* Weights of rows, and the resulting factors. */
typedef struct weights {
	double **bytes;	     /* at [device][instant] */
	double *time, *step; /* at [device] */
	factors *of;	     /* for the tables of each chunk */
	double goal;	     /* sum over the goal's rows */
} weights;

typedef struct searcher {
	const chunk_problem *p;
	chunk_measure goal;
	double limit[CHUNKS_MEASURES]; /* for the goal the best value known */
	double scale; /* the goal's limit when the weights were set */
	double enough;
	split *best;
	int n, nstages;
	weights now, kept; /* kept: those of the best bound */
	/* By first chunk and first layer of a rest: the least weighted sum, its
	 * first cut, and the least possible values of the greatest bytes and
	 * the greatest time of a single chunk. */
	double *rest, *rest_bytes, *rest_time;
	int *cut;
	int *first;	   /* the split being tried */
	double bound;	   /* of the goal */
	double by_weights; /* best bound by weights */
	int64_t moves, branches, each; /* each: for a whole split */
	uint64_t random;
} searcher;

static size_t cell(const searcher *w, int q, int i)
{
	return (size_t)q * ((size_t)w->n + 1) + (size_t)i;
}

/* The last possible end of chunk q. */
static int last_end(const searcher *w, int q)
{
	return w->n - (w->nstages - 1 - q);
}

static int first_end(const searcher *w, int q, int i)
{
	return q == w->nstages - 1 ? w->n : i + 1;
}

static bool exceeds(const searcher *w, chunk_measure m, double value)
{
	return m == w->goal ? value >= w->limit[m] : value > w->limit[m];
}

static double value_of(const split *s, chunk_measure m)
{
	return m == CHUNKS_PEAK	  ? s->peak
	       : m == CHUNKS_STEP ? s->step
				  : s->bottleneck;
}

/* Takes the split being tried if it is better. */
static void consider(searcher *w)
{
	split s = {.first = w->first};
	chunk_split_measure(w->p, &s);
	w->moves += w->each;
	w->branches += w->each;
	for (int m = 0; m < CHUNKS_MEASURES; m++)
		if (exceeds(w, (chunk_measure)m,
			    value_of(&s, (chunk_measure)m)))
			return;
	s.first = w->best->first;
	memcpy(s.first, w->first, sizeof(int) * ((size_t)w->nstages + 1));
	*w->best = s;
	w->limit[w->goal] = value_of(&s, w->goal);
}

static bool done(const searcher *w)
{
	return w->limit[w->goal] <= w->enough || w->bound >= w->limit[w->goal];
}

/* ---- weights --------------------------------------------------------------
 */

/* The factor for the rows of a measure; 0 if they do not count. */
static double unit(const searcher *w, chunk_measure m)
{
	double limit = m == w->goal ? w->scale : w->limit[m];
	return limit > 0 && limit < INFINITY ? 1 / limit : 0;
}

static weights weights_new(arena *a, const chunk_problem *p)
{
	weights w = {ARENA_ARRAY(a, double *, p->ndevices),
		     ARENA_ARRAY(a, double, p->ndevices),
		     ARENA_ARRAY(a, double, p->ndevices),
		     ARENA_ARRAY(a, factors, chunk_stages(p)), 0};
	for (int s = 0; s < p->ndevices; s++)
		w.bytes[s] = ARENA_ARRAY(a, double, p->counts[s].n);
	return w;
}

static void copy_weights(const chunk_problem *p, weights *to,
			 const weights *from)
{
	size_t size = sizeof(double) * (size_t)p->ndevices;
	memcpy(to->time, from->time, size);
	memcpy(to->step, from->step, size);
	for (int s = 0; s < p->ndevices; s++)
		memcpy(to->bytes[s], from->bytes[s],
		       sizeof(double) * (size_t)p->counts[s].n);
}

/* Begins with equal weights for all rows of a measure that counts. */
static void begin_weights(searcher *w)
{
	for (int s = 0; s < w->p->ndevices; s++) {
		for (int k = 0; k < w->p->counts[s].n; k++)
			w->now.bytes[s][k] = (unit(w, CHUNKS_PEAK) > 0) /
					     (double)w->p->counts[s].n;
		w->now.time[s] = unit(w, CHUNKS_BOTTLENECK) > 0;
		w->now.step[s] = unit(w, CHUNKS_STEP) > 0;
	}
}

/* Scales the weights to the sum 1. */
static void normalise(searcher *w)
{
	weights *x = &w->now;
	double sums[CHUNKS_MEASURES] = {0}, all = 0;
	for (int s = 0; s < w->p->ndevices; s++) {
		for (int k = 0; k < w->p->counts[s].n; k++)
			sums[CHUNKS_PEAK] += x->bytes[s][k];
		sums[CHUNKS_BOTTLENECK] += x->time[s];
		sums[CHUNKS_STEP] += x->step[s];
	}
	for (int m = 0; m < CHUNKS_MEASURES; m++)
		all += sums[m];
	for (int s = 0; s < w->p->ndevices; s++) {
		for (int k = 0; k < w->p->counts[s].n; k++)
			x->bytes[s][k] /= all;
		x->time[s] /= all;
		x->step[s] /= all;
	}
	x->goal = sums[w->goal] / all;
}

/* Adds the rows of a device's bytes. */
static void add_bytes(searcher *w, int s)
{
	const chunk_counts *counts = &w->p->counts[s];
	int S = w->p->ndevices, V = w->p->chunks;
	for (int k = 0; k < counts->n; k++) {
		double x = w->now.bytes[s][k] * unit(w, CHUNKS_PEAK);
		for (int c = 0; c < V; c++) {
			factors *f = &w->now.of[c * S + s];
			f->fixed += x;
			f->kept += x * counts->in_flight[k * V + c];
			f->running += x * ((counts->running[k] == c) - 1);
		}
	}
}

static void set_factors(searcher *w)
{
	int S = w->p->ndevices, V = w->p->chunks;
	double others = 0, m = (double)w->p->micro_batches * V - 1;
	memset(w->now.of, 0, sizeof(factors) * (size_t)w->nstages);
	for (int s = 0; s < S; s++) {
		others += w->now.step[s] * unit(w, CHUNKS_STEP) / V;
		add_bytes(w, s);
	}
	for (int q = 0; q < w->nstages; q++) {
		int s = q % S;
		w->now.of[q].time =
			others + w->now.step[s] * unit(w, CHUNKS_STEP) / V * m +
			w->now.time[s] * unit(w, CHUNKS_BOTTLENECK);
	}
}

static double weighted(const intervals *t, const factors *f, size_t x)
{
	return f->time * t->time[x] + f->fixed * t->fixed[x] +
	       f->kept * t->kept[x] + f->running * t->running[x];
}

/* The bound of the goal if the least weighted sum is `least'. */
static double bound_of(const searcher *w, double least)
{
	double others = 1 - w->now.goal;
	if (w->now.goal <= 0)
		return least > 1 + 1e-9 ? INFINITY : -INFINITY;
	return w->scale * (least - others) / w->now.goal * (1 - 1e-12);
}

/* Extends the rests that begin with chunk q, ending at j.  Intervals with one
 * end are adjacent in memory. */
static void extend_rests(searcher *w, int q, int j)
{
	const intervals *t = w->p->of;
	const factors f = w->now.of[q];
	double next = w->rest[cell(w, q + 1, j)];
	double *rest = &w->rest[cell(w, q, 0)];
	int *cut = &w->cut[cell(w, q, 0)];
	for (int i = q; i < j; i++) {
		double x = next + weighted(t, &f, interval_at(i, j));
		if (x < rest[i]) {
			rest[i] = x;
			cut[i] = j;
		}
	}
}

/* Runs the program.  The split with the least weighted sum becomes the next one
 * to try. */
static double solve(searcher *w)
{
	for (int q = w->nstages; q-- > 0;) {
		for (int i = 0; i <= w->n; i++)
			w->rest[cell(w, q, i)] = INFINITY;
		for (int j = first_end(w, q, q); j <= last_end(w, q); j++)
			extend_rests(w, q, j);
	}
	w->first[0] = 0;
	for (int q = 0; q < w->nstages; q++)
		w->first[q + 1] = w->cut[cell(w, q, w->first[q])];
	return w->rest[0];
}

/* The bytes of device s at instant k. */
static double bytes_at(const searcher *w, int s, int k)
{
	const chunk_problem *p = w->p;
	const chunk_counts *counts = &p->counts[s];
	double sum = 0;
	for (int c = 0; c < p->chunks; c++) {
		int q = c * p->ndevices + s;
		size_t x = interval_at(w->first[q], w->first[q + 1]);
		sum += p->of->fixed[x] +
		       counts->in_flight[k * p->chunks + c] * p->of->kept[x];
		if (counts->running[k] != c)
			sum -= p->of->running[x];
	}
	return sum;
}

/* Raises the weights of rows with large ratios in the split being tried. */
static void raise_weights(searcher *w, double rate)
{
	const chunk_problem *p = w->p;
	double sum = 0, V = p->chunks, m = p->micro_batches * V - 1;
	double of_bytes = unit(w, CHUNKS_PEAK) * rate;
	for (int s = 0; s < p->ndevices; s++)
		sum += chunk_time(p, w->first, s, p->chunks);
	for (int s = 0; s < p->ndevices; s++) {
		double ns = chunk_time(p, w->first, s, p->chunks);
		for (int k = 0; k < p->counts[s].n && of_bytes > 0; k++)
			w->now.bytes[s][k] *=
				exp(fmin(bytes_at(w, s, k) * of_bytes, 30));
		w->now.time[s] *=
			exp(fmin(ns * unit(w, CHUNKS_BOTTLENECK) * rate, 30));
		w->now.step[s] *= exp(fmin(
			(sum + m * ns) / V * unit(w, CHUNKS_STEP) * rate, 30));
	}
	normalise(w);
}

static void set_scale(searcher *w)
{
	w->scale = w->limit[w->goal];
}

/* ---- moving cuts ----------------------------------------------------------
 */

static double power(double x)
{
	for (int i = 0; i < POWER; i++)
		x *= x;
	return x;
}

/* The figures of devices.  Descent lowers a high power of their ratios. */
typedef struct state {
	double *bytes, *time; /* by device */
} state;

static void measure_device(searcher *w, state *x, int s)
{
	w->moves += (int64_t)w->p->counts[s].n * w->p->chunks;
	x->bytes[s] = chunk_memory(w->p, w->first, s, w->p->chunks);
	x->time[s] = chunk_time(w->p, w->first, s, w->p->chunks);
}

static double score(const searcher *w, const state *x)
{
	double sum = 0, longest = 0, all = 0;
	double m = (double)w->p->micro_batches * w->p->chunks - 1;
	for (int s = 0; s < w->p->ndevices; s++) {
		all += power(x->bytes[s] * unit(w, CHUNKS_PEAK)) +
		       power(x->time[s] * unit(w, CHUNKS_BOTTLENECK));
		sum += x->time[s];
		longest = fmax(longest, x->time[s]);
	}
	return all + w->p->ndevices * power((sum + m * longest) / w->p->chunks *
					    unit(w, CHUNKS_STEP));
}

/* Moves the cut before chunk q to where the score is least.  Returns whether it
 * moved. */
static bool move_cut(searcher *w, state *x, int q, double *least)
{
	int S = w->p->ndevices, from = w->first[q], best = from;
	for (int i = w->first[q - 1] + 1; i < w->first[q + 1]; i++) {
		w->first[q] = i;
		measure_device(w, x, (q - 1) % S);
		measure_device(w, x, q % S);
		double at = score(w, x);
		if (at < *least * (1 - 1e-9)) {
			*least = at;
			best = i;
		}
	}
	w->first[q] = best;
	measure_device(w, x, (q - 1) % S);
	measure_device(w, x, q % S);
	return best != from;
}

static void descend(searcher *w)
{
	arena *own = arena_new();
	state x = {ARENA_ARRAY(own, double, w->p->ndevices),
		   ARENA_ARRAY(own, double, w->p->ndevices)};
	bool moved = true;
	for (int s = 0; s < w->p->ndevices; s++)
		measure_device(w, &x, s);
	double least = score(w, &x);
	while (moved && w->moves < MOST_MOVES) {
		moved = false;
		for (int q = 1; q < w->nstages; q++)
			if (move_cut(w, &x, q, &least)) {
				moved = true;
				consider(w);
			}
	}
	arena_free(own);
}

static int draw_below(searcher *w, int n)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (int)((w->random >> 11) % (uint64_t)n);
}

/* Starts from the best split with some cuts moved; always the same ones. */
static void kick(searcher *w)
{
	size_t size = sizeof(int) * ((size_t)w->nstages + 1);
	w->random = 88172645463325252u;
	for (int k = 0; k < MOST_KICKS && w->nstages > 1 && !done(w) &&
			w->moves < MOST_MOVES; k++) {
		memcpy(w->first, w->best->first, size);
		for (int i = 0; i < 1 + k % 4; i++) {
			int q = 1 + draw_below(w, w->nstages - 1);
			int from = w->first[q - 1] + 1;
			w->first[q] = from + draw_below(
				w, w->first[q + 1] - from);
		}
		consider(w);
		descend(w);
		set_scale(w);
	}
}

/* ---- bounds ---------------------------------------------------------------
 */

/* Finds weights for the best bound, and tries the splits on the way. */
static void find_bound(searcher *w)
{
	int64_t each = (int64_t)w->n * w->n / 2 * w->nstages;
	int rounds = (int)(MOST_PROGRAM / (each + 1));
	rounds = rounds < 4 ? 4 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
	set_scale(w);
	begin_weights(w);
	normalise(w);
	for (int r = 0; r < rounds && !done(w); r++) {
		set_factors(w);
		double bound = bound_of(w, solve(w));
		if (bound > w->by_weights) {
			w->by_weights = bound;
			w->bound = fmax(w->bound, bound);
			copy_weights(w->p, &w->kept, &w->now);
		}
		consider(w);
		raise_weights(w, 1 / (1 + r / 10.0));
		if (r < 10 || r % 10 == 0)
			descend(w);
		set_scale(w);
	}
}

static int most_in_flight(const searcher *w, int q)
{
	int S = w->p->ndevices, V = w->p->chunks, most = 0;
	const chunk_counts *counts = &w->p->counts[q % S];
	for (int k = 0; k < counts->n; k++)
		if (counts->in_flight[k * V + q / S] > most)
			most = counts->in_flight[k * V + q / S];
	return most;
}

/* Likewise, for the greatest needs of a single chunk. */
static void extend_greatest(searcher *w, int q, int j, int most)
{
	const intervals *t = w->p->of;
	size_t next = cell(w, q + 1, j), from = cell(w, q, 0);
	for (int i = q; i < j; i++) {
		size_t x = interval_at(i, j), at = from + (size_t)i;
		double bytes = t->fixed[x] - t->running[x] + most * t->kept[x];
		w->rest_bytes[at] = fmin(w->rest_bytes[at],
					 fmax(bytes, w->rest_bytes[next]));
		w->rest_time[at] = fmin(w->rest_time[at],
					fmax(t->time[x], w->rest_time[next]));
	}
}

/* Sets, for all rests, the least possible values of the greatest bytes and
 * times of a single chunk. */
static void set_greatest(searcher *w)
{
	for (int q = w->nstages; q >= 0; q--) {
		int most = q < w->nstages ? most_in_flight(w, q) : 0;
		for (int i = 0; i <= w->n; i++)
			w->rest_bytes[cell(w, q, i)] =
				w->rest_time[cell(w, q, i)] = INFINITY;
		if (q == w->nstages)
			w->rest_bytes[cell(w, q, w->n)] =
				w->rest_time[cell(w, q, w->n)] = 0;
		else
			for (int j = first_end(w, q, q); j <= last_end(w, q);
			     j++)
				extend_greatest(w, q, j, most);
	}
	if (w->goal == CHUNKS_PEAK)
		w->bound = w->rest_bytes[0];
	else if (w->goal == CHUNKS_BOTTLENECK)
		w->bound = w->rest_time[0];
}

/* ---- branch and bound -----------------------------------------------------
 */

/* Whether no better split begins with these chunks, of which q is the last. */
static bool is_hopeless(searcher *w, int q)
{
	int s = q % w->p->ndevices, c = q / w->p->ndevices + 1;
	size_t next = cell(w, q + 1, w->first[q + 1]);
	if (exceeds(w, CHUNKS_PEAK, w->rest_bytes[next]) ||
	    exceeds(w, CHUNKS_BOTTLENECK, w->rest_time[next]) ||
	    exceeds(w, CHUNKS_BOTTLENECK, chunk_time(w->p, w->first, s, c)))
		return true;
	w->branches += (int64_t)w->p->counts[s].n * c;
	return exceeds(w, CHUNKS_PEAK, chunk_memory(w->p, w->first, s, c));
}

/* Tries all cuts of chunk q and later ones.  sum: the weighted sum of earlier
 * chunks. */
static void branch(searcher *w, int q, double sum)
{
	const intervals *t = w->p->of;
	int i = w->first[q];
	if (q == w->nstages) {
		consider(w);
		return;
	}
	for (int j = first_end(w, q, i); j <= last_end(w, q); j++) {
		if (w->branches++ > MOST_BRANCHES || done(w))
			return;
		double x = sum + weighted(t, &w->now.of[q], interval_at(i, j));
		if (bound_of(w, x + w->rest[cell(w, q + 1, j)]) >=
		    w->limit[w->goal])
			continue;
		w->first[q + 1] = j;
		if (!is_hopeless(w, q))
			branch(w, q + 1, x);
	}
}

/* Branches with the weights of the best bound. */
static void prove(searcher *w)
{
	w->branches = 0;
	copy_weights(w->p, &w->now, &w->kept);
	set_scale(w);
	normalise(w);
	set_factors(w);
	w->bound = fmax(w->bound, bound_of(w, solve(w)));
	w->first[0] = 0;
	branch(w, 0, 0);
	if (w->branches <= MOST_BRANCHES && w->limit[w->goal] > w->enough)
		w->bound = w->limit[w->goal];
}

static searcher searcher_new(arena *a, const chunk_problem *p, split *best)
{
	searcher w = {.p = p,
		      .n = p->of->n,
		      .nstages = chunk_stages(p),
		      .best = best,
		      .by_weights = -INFINITY};
	size_t cells = ((size_t)w.nstages + 1) * ((size_t)w.n + 1);
	w.now = weights_new(a, p);
	w.kept = weights_new(a, p);
	w.rest = ARENA_ARRAY(a, double, cells);
	w.rest_bytes = ARENA_ARRAY(a, double, cells);
	w.rest_time = ARENA_ARRAY(a, double, cells);
	w.cut = ARENA_ARRAY(a, int, cells);
	w.first = ARENA_ARRAY(a, int, w.nstages + 1);
	for (int i = 0; i < w.n; i++)
		w.rest[cell(&w, w.nstages, i)] = INFINITY;
	for (int s = 0; s < p->ndevices; s++)
		w.each += (int64_t)p->counts[s].n * p->chunks;
	return w;
}

double chunks_improve(const chunk_problem *p, chunk_measure goal,
		      const double limit[CHUNKS_MEASURES], double enough,
		      split *best)
{
	arena *own = arena_new();
	searcher w = searcher_new(own, p, best);
	w.goal = goal;
	w.enough = enough;
	memcpy(w.limit, limit, sizeof(w.limit));
	w.limit[goal] = value_of(best, goal);
	set_greatest(&w);
	memcpy(w.first, best->first, sizeof(int) * ((size_t)w.nstages + 1));
	set_scale(&w);
	descend(&w);
	if (!done(&w))
		find_bound(&w);
	if (!done(&w))
		kick(&w);
	if (!done(&w))
		prove(&w);
	arena_free(own);
	return fmin(w.bound, w.limit[goal]);
}
