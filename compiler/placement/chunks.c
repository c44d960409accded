/* Splits for interleaved schedules: their costs, and the search for one goal
 * after another. */
#include "config.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "compiler/placement/chunks.h"

const char *chunks_refused(arena *a, int n, int ndevices, int chunks)
{
	int64_t stages = (int64_t)ndevices * chunks;
	if (stages > CHUNKS_MOST_STAGES)
		return arena_printf(a, "%lld chunks are more than %d",
				    (long long)stages, CHUNKS_MOST_STAGES);
	if (stages * n * n / 2 > CHUNKS_MOST_LOOKS)
		return arena_printf(a,
				    "%d layers in %d chunks are too many to "
				    "be searched",
				    n, (int)stages);
	return NULL;
}

chunk_problem chunk_problem_new(arena *a, const intervals *of, int ndevices,
				int chunks, int micro_batches, double cap)
{
	chunk_counts *counts = ARENA_ARRAY(a, chunk_counts, ndevices);
	for (int s = 0; s < ndevices; s++)
		counts[s] = schedule_chunk_counts(a, s, ndevices, chunks,
						  micro_batches);
	return (chunk_problem){of,     ndevices, chunks, micro_batches,
			       counts, cap};
}

/* The interval of chunk c of device s. */
static size_t place_of(const chunk_problem *p, const int *first, int s, int c)
{
	int q = c * p->ndevices + s;
	return interval_at(first[q], first[q + 1]);
}

double chunk_memory(const chunk_problem *p, const int *first, int s,
		    int nchunks)
{
	const chunk_counts *counts = &p->counts[s];
	double resident = 0, most = 0;
	double kept[CHUNKS_MOST_STAGES], running[CHUNKS_MOST_STAGES];
	for (int c = 0; c < nchunks; c++) {
		size_t x = place_of(p, first, s, c);
		kept[c] = p->of->kept[x];
		running[c] = p->of->running[x];
		resident += p->of->fixed[x] - running[c];
	}
	for (int k = 0; k < counts->n; k++) {
		const int *n = &counts->in_flight[k * p->chunks];
		int at = counts->running[k];
		double bytes = at < nchunks ? running[at] : 0;
		for (int c = 0; c < nchunks; c++)
			bytes += n[c] * kept[c];
		most = bytes > most ? bytes : most;
	}
	return resident + most;
}

double chunk_time(const chunk_problem *p, const int *first, int s, int nchunks)
{
	double ns = 0;
	for (int c = 0; c < nchunks; c++)
		ns += p->of->time[place_of(p, first, s, c)];
	return ns;
}

int chunk_in_flight(const chunk_problem *p, int s, int chunk)
{
	const chunk_counts *counts = &p->counts[s];
	int V = p->chunks, most = 0;
	for (int k = 0; k < counts->n; k++) {
		int sum = 0;
		for (int v = 0; v < V; v++)
			if (chunk < 0 || v == chunk)
				sum += counts->in_flight[k * V + v];
		most = sum > most ? sum : most;
	}
	return most;
}

int chunk_exceeding_device(const chunk_problem *p, const int *first)
{
	int most = 0;
	for (int d = 1; d < p->ndevices; d++)
		if (chunk_memory(p, first, d, p->chunks) >
		    chunk_memory(p, first, most, p->chunks))
			most = d;
	return most;
}

void chunk_split_measure(const chunk_problem *p, split *s)
{
	double sum = 0;
	s->peak = s->bottleneck = 0;
	for (int d = 0; d < p->ndevices; d++) {
		double ns = chunk_time(p, s->first, d, p->chunks);
		s->peak =
			fmax(s->peak, chunk_memory(p, s->first, d, p->chunks));
		s->bottleneck = fmax(s->bottleneck, ns);
		sum += ns;
	}
	s->step = (sum +
		   ((double)p->micro_batches * p->chunks - 1) * s->bottleneck) /
		  p->chunks;
}

/* ---- goals --------------------------------------------------------------- */

/* Gives each chunk equally many layers, as far as possible. */
static void split_evenly(arena *a, const chunk_problem *p, split *s)
{
	int n = chunk_stages(p);
	s->first = ARENA_ARRAY(a, int, n + 1);
	for (int q = 0; q <= n; q++)
		s->first[q] = (int)((int64_t)p->of->n * q / n);
	chunk_split_measure(p, s);
}

static double value_of(const split *s, chunk_measure m)
{
	return m == CHUNKS_PEAK	  ? s->peak
	       : m == CHUNKS_STEP ? s->step
				  : s->bottleneck;
}

/* Finds a split with a low peak and a lower bound of all peaks, and sets
 * whether it is proven.  Returns whether the peak is within the cap. */
static bool least_peak(arena *a, const chunk_problem *p, double enough,
		       chunk_split *best)
{
	const double limit[] = {INFINITY, INFINITY, INFINITY};
	split_evenly(a, p, &best->s);
	best->bound = chunks_improve(p, CHUNKS_PEAK, limit, enough, &best->s);
	best->proven = best->bound > p->cap || best->bound == best->s.peak;
	return best->s.peak <= p->cap;
}

bool chunks_fit(arena *a, const chunk_problem *p, chunk_split *best)
{
	return least_peak(a, p, p->cap, best);
}

/* Improves a split in one more measure, without making the earlier ones
 * worse. */
static bool improve(const chunk_problem *p, chunk_measure m, double *limit,
		    chunk_split *best, double *bound)
{
	*bound = chunks_improve(p, m, limit, -INFINITY, &best->s);
	limit[m] = value_of(&best->s, m);
	return *bound == limit[m];
}

bool chunks_best(arena *a, const chunk_problem *p, chunk_measure goal,
		 chunk_split *best)
{
	double limit[] = {p->cap, INFINITY, INFINITY}, bound;
	if (!least_peak(a, p, goal == CHUNKS_PEAK ? -INFINITY : p->cap, best))
		return false;
	if (goal == CHUNKS_PEAK)
		limit[goal] = best->s.peak;
	else
		best->proven = improve(p, goal, limit, best, &best->bound);
	best->all_proven = best->proven;
	if (goal != CHUNKS_PEAK &&
	    !improve(p, CHUNKS_PEAK, limit, best, &bound))
		best->all_proven = false;
	if (goal != CHUNKS_STEP &&
	    !improve(p, CHUNKS_STEP, limit, best, &bound))
		best->all_proven = false;
	return true;
}

bool chunks_frontier(arena *a, const chunk_problem *p, chunk_measure goal,
		     split_list *frontier)
{
	arena *own = arena_new();
	split_list back = {0};
	chunk_problem q = *p;
	chunk_split s;
	bool proven = true;
	assert(goal != CHUNKS_PEAK);
	while (proven && chunks_best(a, &q, goal, &s)) {
		proven = s.all_proven;
		vec_push(own, &back, s.s);
		q.cap = nextafter(s.s.peak, -INFINITY);
	}
	proven = proven && s.proven;
	*frontier = (split_list){0};
	while (back.n > 0)
		vec_push(a, frontier, back.at[--back.n]);
	arena_free(own);
	return proven;
}
