#include "config.h"

#include "compiler/portfolio/pipeline_search.h"

#include <math.h>
#include <stdlib.h>

#include "compiler/portfolio/pipeline_judge.h"
#include "compiler/portfolio/pipeline_measure.h"
#include "compiler/portfolio/pipeline_program.h"
#include "compiler/portfolio/pipeline_refine.h"
#include "compiler/portfolio/pipeline_refusals.h"

enum {
	MOST_UNEVEN = 16,  /* devices of which stages may have any number */
	MOST_LAYERS = 64,  /* that are divided so */
	MOST_PLANNED = 3,  /* splits that are planned as they are at a time */
	MOST_IN_ALL = 12,  /* and of all */
	MOST_ROUNDS = 10,
	MOST_TENSOR = 32,  /* devices of a replica, where any may be */
};

/* Of a device's memory, by what is known, where nothing that needs less is
 * found to fit. */
#define MOST_SHARE 1.4

/* Stages with any numbers of devices are looked for where those with equally
 * many take less than so many times what is to be beaten. */
#define NEAR 1.1

/* A cut that was planned, and its step over what its layers' seconds make; 0:
 * that is not known. */
typedef struct planned_cut {
	pipeline_cut cut;
	double slowness;
} planned_cut;

typedef struct searcher {
	const plan_request *how;
	const pipeline_aims *aims;
	arena *tmp;
	const pipeline_layers *layers;
	pipeline_sums sums;
	pipeline_measurer measurer;
	VEC(int) measured; /* numbers of devices whose ways are there */
	double share;	   /* of a device's limit that may be used */
	double alone; /* seconds of a micro-batch on one device, both passes; 0:
			 not known */
	VEC(planned_cut) planned;
	pipeline_refusals refused;
	/* Of the problem that is solved: */
	const int *first_device; /* by group */
	pipeline_schedule kind;
	bool failed;
} searcher;

/* A split, and the step that the program expects. */
typedef struct candidate {
	pipeline_cut cut;
	double seconds;
	bool sampled; /* of pipeline_result */
} candidate;

typedef VEC(candidate) candidates;

/* ---- ways -------------------------------------------------------------- */

typedef VEC(pipeline_way) way_list;

/* Adds the ways of so many devices in so many replicas. */
static void list_ways(const searcher *x, int devices, int replicas,
		      way_list *to)
{
	const char *inside = x->aims->inside;
	pipeline_way way = { devices, replicas, inside, x->how->variant };
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

/* Adds the ways of so many devices, once. */
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
			list_ways(x, devices, d, to);
	}
}

static void measure_ways(searcher *x, const way_list *ways)
{
	if (!x->failed)
		x->failed = !pipeline_measure(&x->measurer, ways->at, ways->n);
}

/* ---- a bound ----------------------------------------------------------- */

/* Finds the seconds of a micro-batch on one device, which moves nothing. */
static void find_alone(searcher *x)
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

/* Whether so many stages, of equally many devices, may take less than what is
 * to be beaten.  k devices that share the work of one, and move nothing, take a
 * k-th of its time, for each micro-batch and, by schedules that have whole
 * passes of whole stages and no other, once more for each other stage that
 * waits for the first and for the last. */
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

/* The schedule of a split: alone, a stage never waits, and a backward pass in
 * two parts is no faster. */
static pipeline_schedule kind_of(int nstages, pipeline_schedule kind)
{
	return nstages == 1 && kind == SCHEDULE_ZB ? SCHEDULE_1F1B : kind;
}

/* As take_split() will count it: how many wait follows from the stages behind,
 * and one that has all layers is alone. */
static double stage_seconds(void *of, int i, int j, int a, int b,
			    int in_flight, int behind)
{
	const searcher *x = of;
	bool alone = i == 0 && j == x->layers->n;
	const stage_place at = {
		i, j, x->first_device[a], x->first_device[b], in_flight,
		pipeline_sums_waiting(kind_of(alone ? 1 : 2, x->kind), 0,
				      behind + 1, x->layers->g->turns->turns)
	};
	double seconds;
	pipeline_sums_best(&x->sums, &at, x->share, &seconds);
	return seconds;
}

/* Takes over a split that the program has found. */
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
		double seconds;
		ways[q].devices = x->first_device[s->group[q + 1]] -
				  x->first_device[s->group[q]];
		stage_place at = pipeline_sums_place(&cut, q, turns);
		const way_sums *w = pipeline_sums_best(&x->sums, &at, x->share,
						       &seconds);
		ways[q] = w->way;
	}
	vec_push(a, all, ((candidate){ cut, s->seconds, !s->proven }));
}

/* Seconds that a cut before each layer adds: a message there, one back. */
static double *seconds_between(const searcher *x)
{
	const pipeline_layers *l = x->layers;
	double *to = ARENA_ARRAY(x->tmp, double, l->n + 1);
	double rate = pipeline_bandwidth(x->how->topology, x->how->k);
	for (int i = 1; i < l->n; i++)
		to[i] = 2 * (l->crossing[i] / rate +
			     x->how->topology->levels[0].latency);
	return to;
}

/* The fewest stages of any number. */
static int fewest(const searcher *x)
{
	return x->aims->nstages ? x->aims->nstages : x->aims->several ? 2 : 1;
}

/* Counts a division that was not found: where there is one with any memory, it
 * is refused for memory. */
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

/* Splits over groups of devices, each of group[i + 1] - group[i]. */
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
		.kind = kind,
		.seconds = stage_seconds,
		.of = x,
		.between = seconds_between(x),
	};
	x->first_device = group;
	x->kind = kind;
	if (pipeline_program_solve(tmp, &p, &best))
		take_split(x, &best, kind, all);
	else if (x->aims->beat <= 0)
		count_refusal(x, &p);
	arena_free(tmp);
}

/* The first devices of stages of equally many, or as even as can be, whose ways
 * it adds; NULL where the machine has no such stages. */
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

/* Splits into numbers of stages from `least' to `most'. */
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

/* Whether of stages with equally many devices some are nearly as fast as what
 * is to be beaten. */
static bool is_near(const searcher *x, const candidates *all)
{
	if (x->aims->beat <= 0 || x->alone <= 0)
		return true;
	for (int i = 0; i < all->n; i++)
		if (all->at[i].seconds < NEAR * x->aims->beat)
			return true;
	return false;
}

/* Stages of any numbers of devices, of few. */
static void split_unevenly(searcher *x, pipeline_schedule kind,
			   candidates *all)
{
	int k = x->how->k;
	int *first = ARENA_ARRAY(x->tmp, int, k + 1);
	way_list ways = { 0 };
	if (k > MOST_UNEVEN || x->layers->n > MOST_LAYERS || !may_win(x, 1) ||
	    !is_near(x, all))
		return;
	for (int i = 1; i <= k; i++) {
		first[i] = i;
		list_all_ways(x, i, &ways);
	}
	measure_ways(x, &ways);
	if (!x->failed)
		split_groups(x, first, k, false, kind, all);
}

/* The splits for a schedule. */
static void find_splits(searcher *x, pipeline_schedule kind, candidates *all)
{
	int n = x->aims->nstages, k = x->how->k;
	int most = k < x->layers->n ? k : x->layers->n;
	split_evenly(x, fewest(x), n && n < most ? n : most, kind, all);
	if (!x->failed && (x->how->topology->nkinds > 0 || k <= 8 || n))
		split_unevenly(x, kind, all);
}

/* ---- judging ----------------------------------------------------------- */

/* The cut with a planner in each stage that divides any graph. */
static pipeline_cut without_rules(arena *a, const pipeline_cut *of)
{
	pipeline_cut cut = *of;
	pipeline_way *ways = ARENA_COPY(a, of->ways, of->nstages);
	for (int s = 0; s < of->nstages; s++) {
		ways[s].algorithm = pipeline_any_inside->algorithm;
		ways[s].variant = pipeline_any_inside->variant;
	}
	cut.ways = ways;
	return cut;
}

/* Plans a cut.  A rule that divides the sample may divide no stage. */
static bool plan_cut(searcher *x, pipeline_cut *cut, pipeline_result *r)
{
	if (!pipeline_plan(x->how, x->layers, cut, r))
		return false;
	if (!r->refused || x->aims->inside)
		return true;
	*cut = without_rules(x->how->arena, cut);
	return pipeline_plan(x->how, x->layers, cut, r);
}

/* The step that a cut is expected to take by what is known of its ways; 0: they
 * are not known. */
static double expected(const searcher *x, const pipeline_cut *cut)
{
	int turns = x->layers->g->turns->turns;
	const double *between = seconds_between(x);
	double sum = 0, longest = 0, bytes, own;
	for (int s = 0; s < cut->nstages; s++) {
		stage_place at = pipeline_sums_place(cut, s, turns);
		if (!pipeline_sums_of(&x->sums, &cut->ways[s], &at, &bytes,
				      &own))
			return 0;
		sum += own + (s > 0 ? between[cut->first[s]] : 0);
		longest = fmax(longest, own);
	}
	return sum + (turns - 1) * longest;
}

/* Learns from a plan what its ways need; returns its slowness. */
static double learn(searcher *x, const pipeline_cut *cut,
		    const pipeline_result *r)
{
	if (cut->chunks > 1)
		return 0;
	pipeline_sums_learn(&x->sums, cut, r);
	double by_sums = expected(x, cut);
	return by_sums > 0 ? r->seconds / by_sums : 0;
}

static void judge(searcher *x, const pipeline_cut *of, bool sampled,
		  pipeline_result *best)
{
	pipeline_result r;
	pipeline_cut cut = *of;
	if (x->failed)
		return;
	vec_push(x->tmp, &x->planned, ((planned_cut){ *of, 0 }));
	x->failed = !plan_cut(x, &cut, &r);
	if (x->failed)
		return;
	if (r.plan) {
		x->planned.at[x->planned.n - 1].slowness = learn(x, &cut, &r);
	} else {
		x->refused.plans++;
		x->refused.plan = r.refused;
	}
	if (pipeline_is_better(x->how, &r, best)) {
		r.sampled = sampled;
		*best = r;
	} else if (r.refused && !best->plan && !best->refused) {
		*best = r;
	}
}

/* The least slowness of those with as many stages that were planned, else 1:
 * messages take the longer, the more there are. */
static double slowness_of(const searcher *x, int nstages)
{
	double least = INFINITY;
	for (int i = 0; i < x->planned.n; i++) {
		const planned_cut *p = &x->planned.at[i];
		if (p->cut.nstages == nstages && p->slowness > 0)
			least = fmin(least, p->slowness);
	}
	return isinf(least) ? 1 : least;
}

/* The seconds that a candidate needs at least: those of 1f1b, or where others
 * are tried that wait less, without waiting. */
static double least_seconds(const searcher *x, const candidate *c)
{
	int turns = x->layers->g->turns->turns;
	if (!x->aims->any_schedule && x->aims->kind != SCHEDULE_ZB)
		return c->seconds;
	return c->seconds * turns / (turns + c->cut.nstages - 1);
}

/* Whether a split is not planned yet, and may be better than the best: other
 * devices and layers of as many stages may lose less than the least so far, so
 * that what those lost is no reason against it. */
static bool is_hopeful(const searcher *x, const candidate *c,
		       const pipeline_result *best)
{
	bool fits = best->plan && pipeline_is_within(x->how, best);
	double most = fits ? best->seconds : INFINITY;
	if (x->aims->beat > 0)
		most = fmin(most, x->aims->beat);
	for (int i = 0; i < x->planned.n; i++)
		if (pipeline_cut_equal(&c->cut, &x->planned.at[i].cut))
			return false;
	return least_seconds(x, c) * fmin(1, slowness_of(x, c->cut.nstages)) <
	       most;
}

static int by_expected(const void *x, const void *y)
{
	const candidate *a = x, *b = y;
	return a->seconds != b->seconds
		       ? (a->seconds < b->seconds ? -1 : 1)
		       : a->cut.nstages - b->cut.nstages;
}

/* Plans the splits that are expected to be fastest; returns how many. */
static int judge_all(searcher *x, candidates *all, pipeline_result *best)
{
	int n = x->planned.n;
	if (all->n > 0)
		qsort(all->at, (size_t)all->n, sizeof(candidate), by_expected);
	for (int i = 0; i < all->n && x->planned.n < n + MOST_PLANNED; i++)
		if (x->planned.n < MOST_IN_ALL &&
		    is_hopeful(x, &all->at[i], best))
			judge(x, &all->at[i].cut, all->at[i].sampled, best);
	return x->planned.n - n;
}

/* Other schedules of the best split, the layers of interleaved ones anew. */
static void try_schedules(searcher *x, pipeline_result *best)
{
	if (!best->plan || !x->aims->any_schedule || best->cut->nstages == 1)
		return;
	const pipeline_cut of = *best->cut;
	bool sampled = best->sampled;
	pipeline_cut cut = of;
	cut.kind = SCHEDULE_ZB;
	judge(x, &cut, sampled, best);
	for (int v = 2; v <= 4 && v * of.nstages <= x->layers->n; v++) {
		cut.kind = SCHEDULE_INTERLEAVED;
		cut.chunks = v;
		pipeline_balance(x->how->arena, x->how, x->layers, &cut);
		judge(x, &cut, sampled, best);
	}
}

/* ---- chunks ------------------------------------------------------------ */

/* Interleaved stages, of layers that take equally long, by the ways of the best
 * split without chunks. */
static void search_chunks(searcher *x, pipeline_result *best)
{
	candidates all = { 0 };
	find_splits(x, SCHEDULE_1F1B, &all);
	for (int i = 0; i < all.n; i++) {
		pipeline_cut cut = all.at[i].cut;
		cut.kind = SCHEDULE_INTERLEAVED;
		cut.chunks = x->aims->chunks;
		if (cut.nstages * cut.chunks > x->layers->n)
			continue;
		pipeline_balance(x->how->arena, x->how, x->layers, &cut);
		judge(x, &cut, all.at[i].sampled, best);
	}
}

/* ---- all --------------------------------------------------------------- */

/* Where no plan fits, and none of so many splits is a new one: whether to look
 * for others.  If they all need more than is known of them, for some that need
 * less; if there are none, for some that need more, to see what these need, or
 * because too much is expected. */
static bool may_look_further(searcher *x, const pipeline_result *best,
			     int nsplits)
{
	if (x->aims->beat > 0 || isinf(x->share) ||
	    (best->plan && pipeline_is_within(x->how, best)))
		return false;
	if (nsplits > 0)
		x->share *= 0.95;
	else
		x->share = x->planned.n == 0 ? INFINITY : x->share * 1.1;
	return x->share == INFINITY || x->share < MOST_SHARE;
}

/* Splits are planned, and what is learnt of them is used for the next, as long
 * as some may be better. */
static void search(searcher *x, pipeline_result *best)
{
	bool any = x->aims->any_schedule;
	x->share = 1;
	for (int i = 0; i < MOST_ROUNDS && !x->failed; i++) {
		candidates all = { 0 };
		find_splits(x, any ? SCHEDULE_1F1B : x->aims->kind, &all);
		int n = judge_all(x, &all, best);
		if (isinf(x->share))
			x->share = 1;
		else if (n == 0 && !may_look_further(x, best, all.n))
			break;
	}
	try_schedules(x, best);
}

bool pipeline_search(const plan_request *how, const pipeline_aims *aims,
		     pipeline_result *best)
{
	plan_request named = *how;
	searcher x = { .how = &named, .aims = aims, .tmp = arena_new(),
		       .share = INFINITY };
	named.algorithm = aims->inside ? aims->inside : PLAN_AUTO;
	*best = (pipeline_result){ 0 };
	x.layers = pipeline_layers_new(how->arena, how->graph, how->topology);
	best->refused = pipeline_impossible(&named, aims, x.layers);
	if (!best->refused) {
		x.sums = (pipeline_sums){
			.a = x.tmp,
			.how = &named,
			.costs = pipeline_costs_new(how->arena, x.layers),
			.given = pipeline_layers_given(x.tmp, x.layers, false),
			.again = pipeline_layers_given(x.tmp, x.layers, true),
			.sent = pipeline_layers_sent(x.tmp, x.layers),
			.recompute = aims->recompute,
		};
		x.measurer = (pipeline_measurer){ &named, &x.sums,
						  &x.refused, { 0 } };
		if (aims->beat > 0 && how->topology->nkinds == 0)
			find_alone(&x);
		if (!aims->any_schedule && aims->chunks > 1)
			search_chunks(&x, best);
		else
			search(&x, best);
		if (best->plan && !x.failed)
			x.failed = !pipeline_refine(&named, x.layers, best);
	}
	if (!best->plan && (!best->refused || x.refused.plans > 0))
		best->refused = pipeline_refusals_text(&named, &x.refused,
						       x.layers);
	arena_free(x.tmp);
	return !x.failed;
}
