/* Estimates the seconds that buckets may save, before any is made. */
#include "config.h"

#include <math.h>

#include "compiler/lower/bucket_maker.h"
#include "compiler/lower/timeline.h"

/* Subtracts the latency of instruction i from its time.  Returns the
 * latency. */
static double take_latency(const bucket_maker *m, instr_times *x, int i,
			   double *seconds)
{
	double latency = instr_times_latency(x, m->p, &m->from[i]);
	seconds[i] -= latency;
	return latency;
}

/* Leaves only the longest latency of a bucket's members, and only the longest
 * of the transfers that spread their results. */
static void take_latencies(const bucket_maker *m, instr_times *x,
			   const ints *all, double *seconds)
{
	double longest[2] = { 0, 0 };
	int first = all->at[0];
	bool spreads = bucket_has_spread(m, first, m->p->ninstrs);
	for (int j = 0; j < all->n; j++)
		for (int k = 0; k <= spreads; k++)
			longest[k] = fmax(longest[k],
					  take_latency(m, x, all->at[j] + k,
						       seconds));
	for (int k = 0; k <= spreads; k++)
		seconds[first + k] += longest[k];
}

/* A lower bound of the run time of a program that leaves out `more' turns, each
 * like its first; -1 if it is not known. */
static double least_run(const bucket_maker *m, const double *seconds, int more)
{
	const plan *p = m->p;
	double sum = 0;
	if (m->o->machine->overlap)
		return timeline_least(p, seconds, more);
	int turns = p->loop.turns - more;
	int each = (p->body_end - p->body_begin) / (turns > 0 ? turns : 1);
	for (int i = 0; i < p->ninstrs; i++) {
		bool first = i >= p->body_begin && i < p->body_begin + each;
		sum += (first ? 1 + more : 1) * seconds[i];
	}
	return sum;
}

/* Chooses bucket members in each turn of an unrolled program. */
static void choose_in_turns(bucket_maker *m, int turns)
{
	const plan *p = m->p;
	int each = (p->body_end - p->body_begin) / (turns > 0 ? turns : 1);
	bucket_choose(m, 0, p->body_begin);
	for (int i = p->body_begin; i < p->body_end; i += each)
		bucket_choose(m, i, i + each);
	bucket_choose(m, p->body_end, p->ninstrs);
}

/* The seconds saved, computed with at most `most' turns; -1 if these are not
 * enough. */
static double saved_in(instr_times *x, const plan *p, const bucket_options *o,
		       int most)
{
	arena *tmp = arena_new();
	const plan *q = plan_unroll(tmp, p, most);
	int more = p->loop.turns > most ? p->loop.turns - most : 0;
	bucket_maker m = bucket_maker_new(ARENA_COPY(tmp, q, 1), o, 1);
	double *seconds = ARENA_ARRAY(tmp, double, q->ninstrs);
	instr_times_each(x, q, seconds);
	double before = least_run(&m, seconds, more);
	choose_in_turns(&m, p->loop.turns - more);
	for (int i = 1; i < m.members.n; i++)
		if (m.members.at[i].n > 1)
			take_latencies(&m, x, &m.members.at[i], seconds);
	double after = least_run(&m, seconds, more);
	arena_free(m.tmp);
	arena_free(tmp);
	return before < 0 || after < 0 ? -1 : before - after;
}

double bucket_might_save(instr_times *x, const plan *p,
			 const bucket_options *o)
{
	arena *tmp = arena_new();
	const plan *q = bucket_without_updates(tmp, p);
	double saved = -1;
	for (int n = lower_few_turns(x, q); saved < 0 && n < p->loop.turns;
	     n *= 2)
		saved = saved_in(x, q, o, n);
	if (saved < 0)
		saved = saved_in(x, q, o, PLAN_MAX_TURNS);
	arena_free(tmp);
	return saved;
}
