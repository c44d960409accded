#include "config.h"

#include "compiler/portfolio/pipeline_splits.h"

#include <math.h>

#include "compiler/portfolio/pipeline_program.h"

enum {
	/* devices; with at most so many, stages may have any number */
	MOST_UNEVEN = 16,
	MOST_TENSOR = 32,  /* devices of a replica, if any number is allowed */
};

/* Stages with arbitrary numbers of devices are tried if those with equally many
 * take less than this factor times what is to be beaten. */
#define NEAR 1.1

/* ---- ways -------------------------------------------------------------- */

typedef VEC(pipeline_way) way_list;

/* Adds the ways for a number of devices in a number of replicas, with states
 * divided or not. */
static void list_ways(const searcher *x, int devices, int replicas,
		      bool sharded, way_list *to)
{
	const char *inside = x->aims->inside;
	pipeline_way way = { devices, replicas, inside, x->how->variant,
			     sharded };
	if (!inside && devices == replicas)
		way.algorithm = pipeline_any_inside->algorithm;
	if (way.algorithm) {
		vec_push(x->tmp, to, way);
		return;
	}
	for (int i = 0; i < PIPELINE_INSIDES; i++) {
		way.algorithm = pipeline_insides[i].algorithm;
		way.variant = pipeline_insides[i].variant;
		vec_push(x->tmp, to, way);
	}
}

/* Adds these ways with states divided, if there are states.  Undivided states
 * are rarely better, where they are small.  So they are tried in small graphs,
 * and with the winner's ways. */
static void list_both_ways(const searcher *x, int devices, int replicas,
			   way_list *to)
{
	const graph *g = x->layers->g;
	bool shards = pipeline_way_shards(g, replicas);
	if (shards)
		list_ways(x, devices, replicas, true, to);
	if (!shards || g->nnodes <= PIPELINE_FEW_NODES)
		list_ways(x, devices, replicas, false, to);
}

/* Adds the ways for a number of devices, once. */
static void list_all_ways(searcher *x, int devices, way_list *to)
{
	const pipeline_aims *aims = x->aims;
	const graph_turns *t = x->layers->g->turns;
	int64_t samples = t->batch / t->turns;
	for (int i = 0; i < x->measured.n; i++)
		if (x->measured.at[i] == devices)
			return;
	vec_push(x->tmp, &x->measured, devices);
	for (int d = 1; d <= devices; d++) {
		if (devices % d != 0 ||
		    (aims->replicas && d != aims->replicas))
			continue;
		if (!aims->replicas && d > 1 && d > samples)
			x->refused.batches++;
		else if (aims->inside || devices / d <= MOST_TENSOR)
			list_both_ways(x, devices, d, to);
	}
}

static void measure_ways(searcher *x, const way_list *ways)
{
	if (!x->failed)
		x->failed = !pipeline_measure(&x->measurer, ways->at, ways->n);
}

/* ---- a bound ----------------------------------------------------------- */

/* Finds the seconds of a micro-batch on one device, which moves nothing. */
void pipeline_splits_alone(searcher *x)
{
	const stage_place all = { 0, x->layers->n, 0, 1, 1, 0 };
	double seconds;
	way_list ways = { 0 };
	list_all_ways(x, 1, &ways);
	measure_ways(x, &ways);
	if (!x->failed && pipeline_sums_best(&x->sums, &all, INFINITY,
					     &seconds))
		x->alone = seconds;
}

/* Whether this many stages with equally many devices may take less than what is
 * to be beaten.  k devices that share the work of one, and move nothing, take
 * one k-th of its time for each micro-batch.  With schedules that have only
 * whole passes of whole stages, they take as much once more for each other
 * stage, which waits for the first and for the last micro-batch. */
static bool may_win(const searcher *x, int nstages)
{
	const pipeline_aims *aims = x->aims;
	int n = x->layers->g->turns->turns;
	bool whole = !aims->any_schedule && aims->kind != SCHEDULE_ZB &&
		     aims->chunks == 1;
	return aims->beat <= 0 ||
	       (whole ? n + nstages - 1 : n) * x->alone / x->how->k <
		       aims->beat;
}

/* ---- splits ------------------------------------------------------------ */

/* The schedule of a split.  A single stage never waits, and a backward pass in
 * two parts is no faster for it. */
static pipeline_schedule kind_of(int nstages, pipeline_schedule kind)
{
	return nstages == 1 && kind == SCHEDULE_ZB ? SCHEDULE_1F1B : kind;
}

/* The way of a stage, and its seconds or, by memory, what it needs of a
 * device's limit. */
static const way_sums *best_way(const searcher *x, const stage_place *at,
				double *cost)
{
	return x->by_memory
		       ? pipeline_sums_least(&x->sums, at, cost)
		       : pipeline_sums_best(&x->sums, at, x->share, cost);
}

/* The cost of a stage, as take_split() will compute it.  The number of
 * micro-batches in flight follows from the stages after it; a stage with all
 * layers is the only one. */
static double stage_cost(void *of, int i, int j, int a, int b,
			 int in_flight, int behind)
{
	const searcher *x = of;
	bool alone = i == 0 && j == x->layers->n;
	const stage_place at = {
		i, j, x->first_device[a], x->first_device[b], in_flight,
		pipeline_sums_waiting(kind_of(alone ? 1 : 2, x->kind), 0,
				      behind + 1, x->layers->g->turns->turns)
	};
	double cost;
	best_way(x, &at, &cost);
	return cost;
}

/* Adds a split that the program has found. */
static void take_split(searcher *x, const pipeline_split *s,
		       pipeline_schedule kind, candidates *all)
{
	arena *a = x->how->arena;
	pipeline_way *ways = ARENA_ARRAY(a, pipeline_way, s->nstages);
	pipeline_cut cut = { s->nstages, 1, kind_of(s->nstages, kind),
			     x->aims->recompute,
			     ARENA_COPY(a, s->first, s->nstages + 1), ways };
	int turns = x->layers->g->turns->turns;
	for (int q = 0; q < s->nstages; q++) {
		double cost;
		ways[q].devices = x->first_device[s->group[q + 1]] -
				  x->first_device[s->group[q]];
		stage_place at = pipeline_sums_place(&cut, q, turns);
		ways[q] = best_way(x, &at, &cost)->way;
	}
	vec_push(a, all, ((candidate){ cut, s->seconds, s->longest,
				       !s->proven }));
}

double pipeline_splits_between(const searcher *x, int layer, int device)
{
	const topology *t = x->how->topology;
	const topology_level *l = pipeline_level_before(t, device);
	int messages = x->layers->g->training ? 2 : 1;
	return messages *
	       (x->layers->crossing[layer] / l->bandwidth + l->latency);
}

static double between(void *of, int j, int b)
{
	const searcher *x = of;
	return x->by_memory ? 0 : pipeline_splits_between(x, j,
							 x->first_device[b]);
}

/* The least number of stages. */
static int fewest(const searcher *x)
{
	return x->aims->nstages ? x->aims->nstages : x->aims->several ? 2 : 1;
}

/* Counts a division that was not found.  If there is one without a memory
 * limit, the reason is memory. */
static void count_refusal(searcher *x, const pipeline_problem *p)
{
	double share = x->share;
	x->share = INFINITY;
	if (!pipeline_program_possible(p))
		x->refused.wayless++;
	else if (!isinf(share))
		x->refused.full++;
	x->share = share;
}

/* Finds splits over groups of devices [group[i], group[i + 1]). */
static void split_groups(searcher *x, const int *group, int ngroups,
			 bool single, pipeline_schedule kind, candidates *all)
{
	arena *tmp = arena_new();
	pipeline_split best;
	int n = x->aims->nstages;
	const pipeline_problem p = {
		.nlayers = x->layers->n,
		.ngroups = ngroups,
		.single = single,
		.least_stages = single ? ngroups : fewest(x),
		.most_stages = single ? ngroups : n ? n : ngroups,
		.micro_batches = x->layers->g->turns->turns,
		.least_longest = x->by_memory,
		.kind = kind,
		.seconds = stage_cost,
		.between = between,
		.of = x,
	};
	x->first_device = group;
	x->kind = kind;
	if (pipeline_program_solve(tmp, &p, &best))
		take_split(x, &best, kind, all);
	else if (x->aims->beat <= 0 && !x->by_memory)
		count_refusal(x, &p);
	arena_free(tmp);
}

/* The first devices of stages with equally many devices, or as even as
 * possible.  Adds their ways.  NULL if the machine has no such stages. */
static int *even_groups(searcher *x, int nstages, way_list *ways)
{
	const int *n = pipeline_even(x->tmp, x->how->k, nstages);
	int *first = ARENA_ARRAY(x->tmp, int, nstages + 1);
	for (int s = 0; s < nstages; s++) {
		if (x->aims->replicas && n[s] % x->aims->replicas)
			return NULL;
		first[s + 1] = first[s] + n[s];
		if (!pipeline_is_aligned(x->how->topology, first[s],
					 first[s + 1])) {
			x->refused.meshes++;
			return NULL;
		}
		list_all_ways(x, n[s], ways);
	}
	return first;
}

/* Finds splits into `least' to `most' stages. */
static void split_evenly(searcher *x, int least, int most,
			 pipeline_schedule kind, candidates *all)
{
	int k = x->how->k;
	int **first = ARENA_ARRAY(x->tmp, int *, most + 1);
	way_list ways = { 0 };
	for (int n = least; n <= most; n++)
		if ((x->aims->nstages || k % n == 0) && may_win(x, n))
			first[n] = even_groups(x, n, &ways);
	measure_ways(x, &ways);
	for (int n = least; n <= most && !x->failed; n++)
		if (first[n])
			split_groups(x, first[n], n, true, kind, all);
}

/* Whether some splits with equally many devices are nearly as fast as what is
 * to be beaten. */
static bool is_near(const searcher *x, const candidates *all)
{
	if (x->aims->beat <= 0 || x->alone <= 0)
		return true;
	for (int i = 0; i < all->n; i++)
		if (all->at[i].seconds < NEAR * x->aims->beat)
			return true;
	return false;
}

/* Finds splits with arbitrary numbers of devices, if there are few devices. */
static void split_unevenly(searcher *x, pipeline_schedule kind,
			   candidates *all)
{
	int k = x->how->k;
	int *first = ARENA_ARRAY(x->tmp, int, k + 1);
	way_list ways = { 0 };
	if (k > MOST_UNEVEN || x->layers->n > PIPELINE_FEW_LAYERS ||
	    !may_win(x, 1) || !is_near(x, all))
		return;
	for (int i = 1; i <= k; i++) {
		first[i] = i;
		list_all_ways(x, i, &ways);
	}
	measure_ways(x, &ways);
	if (!x->failed)
		split_groups(x, first, k, false, kind, all);
}

/* The devices of a cut with one more in stage q and one less in stage p, as
 * groups.  NULL if there are no such stages. */
static int *shifted_groups(searcher *x, const pipeline_cut *of, int q, int p)
{
	int n = of->nstages;
	int *first = ARENA_ARRAY(x->tmp, int, n + 1);
	for (int s = 0; s < n; s++) {
		int own = of->ways[s].devices + (s == q) - (s == p);
		first[s + 1] = first[s] + own;
		if (own < 1 || (x->aims->replicas && own % x->aims->replicas) ||
		    !pipeline_is_aligned(x->how->topology, first[s],
					 first[s + 1]))
			return NULL;
	}
	return first;
}

/* Finds splits that neighbour known ones, each with its own layers.  The costs
 * of layers alone may hide that a stage is better with one more device of the
 * next one. */
static void split_shifted(searcher *x, pipeline_schedule kind, candidates *all)
{
	for (int i = 0, n = all->n; i < n && !x->failed; i++) {
		const pipeline_cut cut = all->at[i].cut;
		for (int m = 0; m < 2 * (cut.nstages - 1); m++) {
			int q = m / 2 + m % 2, p = m / 2 + !(m % 2);
			way_list ways = { 0 };
			int *first = shifted_groups(x, &cut, q, p);
			for (int s = 0; first && s < cut.nstages; s++)
				list_all_ways(x, first[s + 1] - first[s],
					      &ways);
			measure_ways(x, &ways);
			if (first && !x->failed)
				split_groups(x, first, cut.nstages, true, kind,
					     all);
		}
	}
}

/* Finds the splits for a schedule. */
void pipeline_splits_find(searcher *x, pipeline_schedule kind, candidates *all)
{
	int n = x->aims->nstages, k = x->how->k;
	int most = k < x->layers->n ? k : x->layers->n;
	split_evenly(x, fewest(x), n && n < most ? n : most, kind, all);
	if (x->failed || (x->how->topology->nkinds == 0 && k > 8 && !n))
		return;
	split_unevenly(x, kind, all);
	if (x->neighbours && k <= PIPELINE_FEW_DEVICES &&
	    x->layers->n <= PIPELINE_FEW_LAYERS)
		split_shifted(x, kind, all);
}
