/* The placement `mcap' for interleaved schedules. */
#include "config.h"

#include "compiler/placement/mcap.h"

#include <math.h>

#include "base/clock.h"

chunk_measure mcap_chunk_goal(const mcap_request *r)
{
	return r->objective == MCAP_PEAK   ? CHUNKS_PEAK
	       : r->objective == MCAP_LOAD ? CHUNKS_BOTTLENECK
					   : CHUNKS_STEP;
}

/* The most of a table of intervals. */
static double most_of(const double *table, int n)
{
	double most = 0;
	for (size_t i = 0; i <= interval_at(n - 1, n); i++)
		most = fmax(most, table[i]);
	return most;
}

/* Makes chunks without a layer that may be alone dearer than all others: the
 * search weighs sums, which have to be finite. */
static void forbid_others(const mcap_request *r, const stage_model *m,
			  const intervals *of)
{
	const double dearer = 1e3 * m->chunks;
	const double bytes = most_of(of->fixed, of->n) +
			     m->micro_batches * most_of(of->kept, of->n);
	mcap_forbid(r, of, dearer * most_of(of->time, of->n), dearer * bytes);
}

static chunk_problem problem_of(arena *a, const mcap_request *r,
				const stage_model *m, int ndevices)
{
	const intervals *of = layer_intervals(a, r->l, m);
	forbid_others(r, m, of);
	return chunk_problem_new(a, of, ndevices, m->chunks, m->micro_batches,
				 r->cap);
}

/* The device of each operator. */
static const int *place_of(arena *a, const mcap_request *r,
			   const mcap_chunks *c)
{
	int *place = stages_placement(a, r->g, r->l, &c->best.s,
				      chunk_stages(&c->p));
	for (int v = 0; v < r->g->nops; v++)
		place[v] %= r->ndevices;
	return place;
}

bool mcap_search_chunks(arena *a, const mcap_request *r, mcap_chunks *to)
{
	double begun = clock_seconds();
	chunk_measure goal = mcap_chunk_goal(r);
	*to = (mcap_chunks){ .p = problem_of(a, r, &r->model, r->ndevices) };
	if (!chunks_best(a, &to->p, goal, &to->best))
		return false;
	if (r->frontier)
		to->has_frontier =
			to->best.all_proven &&
			chunks_frontier(a, &to->p,
					goal == CHUNKS_STEP ? CHUNKS_STEP
							    : CHUNKS_BOTTLENECK,
					&to->frontier);
	to->seconds = clock_seconds() - begun;
	to->simulated = stages_simulate(a, r->l, &r->model, &to->best.s,
					chunk_stages(&to->p), &to->refused);
	to->place = place_of(a, r, to);
	return true;
}

/* ---- where nothing fits ------------------------------------------------- */

/* Adds a remedy if a split that fits is found with it. */
static bool add_if_fits(arena *a, const mcap_request *r, const stage_model *m,
			int ndevices, remedy x, remedies *to)
{
	arena *own = arena_new();
	bool fits = false;
	if ((int64_t)ndevices * m->chunks <= r->l->n &&
	    !chunks_refused(own, r->l->n, ndevices, m->chunks)) {
		chunk_problem p = problem_of(own, r, m, ndevices);
		chunk_split best;
		fits = chunks_fit(own, &p, &best);
		x.nbytes = best.s.peak;
	}
	arena_free(own);
	if (fits)
		vec_push(a, to, x);
	return fits;
}

remedies mcap_chunk_remedies(arena *a, const mcap_request *r)
{
	remedies all = { 0 };
	stage_model m = r->model;
	int S = r->ndevices;
	for (int k = 2 * S; (int64_t)k * m.chunks <= r->l->n; k *= 2)
		if (add_if_fits(a, r, &m, k,
				(remedy){ REMEDY_DEVICES, .number = k }, &all))
			break;
	m.recompute = true;
	if (!r->model.recompute)
		add_if_fits(a, r, &m, S, (remedy){ .kind = REMEDY_RECOMPUTE },
			    &all);
	m = r->model;
	while (m.micro_batches > 1) {
		m.micro_batches /= 2;
		if (add_if_fits(a, r, &m, S,
				(remedy){ REMEDY_MICRO_BATCHES,
					  .number = m.micro_batches }, &all))
			break;
	}
	return all;
}
