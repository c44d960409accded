#include "config.h"

#include "compiler/placement/mcap.h"

#include <math.h>

#include "base/clock.h"

void mcap_forbid(const mcap_request *r, const intervals *of, double time,
		 double bytes)
{
	for (int i = 0; r->alone && i < r->l->n; i++)
		for (int j = i + 1; j <= r->l->n && !r->alone[j - 1]; j++) {
			of->time[interval_at(i, j)] += time;
			of->fixed[interval_at(i, j)] += bytes;
		}
}

static split_problem problem_of(arena *a, const mcap_request *r,
				const stage_model *m, const intervals *of,
				int nstages)
{
	return (split_problem){
		.of = of,
		.nstages = nstages,
		.in_flight = stage_in_flight(a, m, nstages),
		.micro_batches = m->micro_batches,
		.cap = r->cap,
	};
}

/* ---- searching ---------------------------------------------------------- */

static bool best_of(arena *a, const mcap_request *r, const split_problem *p,
		    split *best)
{
	if (r->objective == MCAP_PEAK)
		return split_least_peak(a, p, best);
	if (r->objective == MCAP_LOAD)
		return split_least_bottleneck(a, p, best);
	return split_least_step(a, p, INFINITY, best);
}

static void find_frontier(arena *a, const mcap_request *r,
			  const split_problem *by, mcap_stages *to)
{
	to->frontier = split_frontier(a, by, r->objective == MCAP_STEP);
	for (int i = 0; i < to->frontier.n; i++)
		split_measure(&to->p, &to->frontier.at[i]);
}

bool mcap_search(arena *a, const mcap_request *r, mcap_stages *to)
{
	double begun = clock_seconds();
	*to = (mcap_stages){ .p.nstages = r->ndevices };
	if (r->ndevices > r->l->n)
		return false;
	const intervals *of = layer_intervals(a, r->l, &r->model);
	mcap_forbid(r, of, INFINITY, INFINITY);
	to->p = problem_of(a, r, &r->model, of, r->ndevices);
	split_problem by = to->p;
	if (r->predictor)
		by.of = intervals_predicted(a, to->p.of);
	if (!best_of(a, r, &by, &to->best))
		return false;
	to->predicted = to->best.peak;
	split_measure(&to->p, &to->best);
	if (r->frontier)
		find_frontier(a, r, &by, to);
	to->simulated = stages_simulate(a, r->l, &r->model, &to->best,
					r->ndevices, &to->refused);
	to->place = stages_placement(a, r->g, r->l, &to->best, r->ndevices);
	to->seconds = clock_seconds() - begun;
	return true;
}

/* ---- where nothing fits ------------------------------------------------- */

/* Adds a remedy if the least peak with it fits in the memory.  of: the costs of
 * intervals for m. */
static bool add_if_fits(arena *a, const mcap_request *r, const stage_model *m,
			const intervals *of, int nstages, remedy x,
			remedies *to)
{
	arena *own = arena_new();
	split_problem p = problem_of(own, r, m, of, nstages);
	x.nbytes = split_peak(&p);
	arena_free(own);
	if (x.nbytes > r->cap)
		return false;
	vec_push(a, to, x);
	return true;
}

static void try_recomputed(arena *a, const mcap_request *r, remedies *to)
{
	arena *own = arena_new();
	stage_model m = r->model;
	m.recompute = true;
	add_if_fits(a, r, &m, layer_intervals(own, r->l, &m), r->ndevices,
		    (remedy){ .kind = REMEDY_RECOMPUTE }, to);
	arena_free(own);
}

/* The costs of intervals do not depend on the numbers of stages and
 * micro-batches. */
remedies mcap_remedies(arena *a, const mcap_request *r)
{
	remedies all = { 0 };
	stage_model m = r->model;
	if (r->ndevices > r->l->n)
		return all;
	arena *own = arena_new();
	const intervals *of = layer_intervals(own, r->l, &m);
	for (int k = 2 * r->ndevices; k <= r->l->n; k *= 2)
		if (add_if_fits(a, r, &m, of, k,
				(remedy){ REMEDY_DEVICES, .number = k }, &all))
			break;
	if (!m.recompute)
		try_recomputed(a, r, &all);
	while (m.micro_batches > 1) {
		m.micro_batches /= 2;
		if (add_if_fits(a, r, &m, of, r->ndevices,
				(remedy){ REMEDY_MICRO_BATCHES,
					  .number = m.micro_batches }, &all))
			break;
	}
	arena_free(own);
	return all;
}
