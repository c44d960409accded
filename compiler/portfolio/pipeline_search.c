#include "config.h"

#include "compiler/portfolio/pipeline_search.h"

#include <math.h>
#include <stdlib.h>

#include "compiler/portfolio/pipeline_buckets.h"
#include "compiler/portfolio/pipeline_judge.h"
#include "compiler/portfolio/pipeline_refine.h"
#include "compiler/portfolio/pipeline_splits.h"

enum {
	MOST_PLANNED = 3,  /* splits planned unchanged at a time */
	MOST_IN_ALL = 12,  /* the same in all */
	MOST_ROUNDS = 10,
	MOST_BELOW = 8, /* lower memory limits tried for small graphs, .. */
	MOST_ROUNDS_BELOW = 3, /* .. with this many rounds each */
};

/* The largest estimated use of a device's memory that is tried if nothing with
 * less is found to fit. */
#define MOST_SHARE 1.4

/* Plans that take less than this factor times the best are refined: that rarely
 * saves more. */
#define NEAR 1.1

/* ---- judging ----------------------------------------------------------- */

/* A copy of the cut with a planner in each stage that can divide any graph. */
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

/* Plans a cut.  A rule that divides the sample may be unable to divide a
 * stage. */
static bool plan_cut(searcher *x, pipeline_cut *cut, pipeline_result *r)
{
	if (!pipeline_plan(x->how, x->layers, cut, &x->known, r))
		return false;
	if (!r->refused || x->aims->inside)
		return true;
	*cut = without_rules(x->how->arena, cut);
	return pipeline_plan(x->how, x->layers, cut, &x->known, r);
}

/* The step expected for a cut from what is known about its ways; 0 if they are
 * not known. */
static double expected(const searcher *x, const pipeline_cut *cut)
{
	int turns = x->layers->g->turns->turns;
	double sum = 0, longest = 0, bytes, own;
	for (int s = 0; s < cut->nstages; s++) {
		stage_place at = pipeline_sums_place(cut, s, turns);
		if (!pipeline_sums_of(&x->sums, &cut->ways[s], &at, &bytes,
				      &own))
			return 0;
		sum += own + (s > 0 ? pipeline_splits_between(x, at.i, at.begin)
				    : 0);
		longest = fmax(longest, own);
	}
	return sum + (turns - 1) * longest;
}

/* Learns from a plan what its ways need.  Returns its slowness, planned over
 * expected time. */
static double learn(searcher *x, const pipeline_cut *cut,
		    const pipeline_result *r)
{
	if (cut->chunks > 1)
		return 0;
	pipeline_sums_learn(&x->sums, cut, r);
	double by_sums = expected(x, cut);
	return by_sums > 0 ? r->seconds / by_sums : 0;
}

/* Takes a result if it is better than the best. */
static void take_better(const searcher *x, const pipeline_result *r,
			pipeline_result *best)
{
	if (!x->failed && r->plan && pipeline_is_better(x->how, r, best))
		*best = *r;
}

/* The schedule of the divisions. */
static pipeline_schedule kind_of(const searcher *x)
{
	return x->aims->any_schedule ? SCHEDULE_1F1B : x->aims->kind;
}

/* Notes a plan by the schedule of the divisions, if it is the best so far with
 * as many stages. */
static void note(searcher *x, const pipeline_result *r)
{
	if (r->plan && r->cut->kind == kind_of(x) &&
	    r->cut->chunks == 1 && r->cut->nstages <= PIPELINE_FEW_DEVICES)
		take_better(x, r, &x->leading[r->cut->nstages]);
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
	r.sampled = sampled;
	note(x, &r);
	if (pipeline_is_better(x->how, &r, best)) {
		*best = r;
	} else if (r.refused && !best->plan && !best->refused) {
		*best = r;
	}
}

/* The least slowness of planned cuts with equally many stages; 1 if there are
 * none.  Messages take longer the more stages there are. */
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

/* The least seconds that a candidate needs: those with 1f1b or, if schedules
 * that wait less are also tried, those without waiting. */
static double least_seconds(const searcher *x, const candidate *c)
{
	int turns = x->layers->g->turns->turns;
	if (!x->aims->any_schedule && x->aims->kind != SCHEDULE_ZB)
		return c->seconds;
	return c->seconds * turns / (turns + c->cut.nstages - 1);
}

static bool is_planned(const searcher *x, const pipeline_cut *cut)
{
	for (int i = 0; i < x->planned.n; i++)
		if (pipeline_cut_equal(cut, &x->planned.at[i].cut))
			return true;
	return false;
}

/* Whether a split is not planned yet and may be better than the best.  Other
 * devices and layers may be slowed down less than the least so far for equally
 * many stages.  So a slowness above 1 does not count against it. */
static bool is_hopeful(const searcher *x, const candidate *c,
		       const pipeline_result *best)
{
	bool fits = best->plan && pipeline_is_within(x->how, best);
	double most = fits ? best->seconds : INFINITY;
	if (x->aims->beat > 0)
		most = fmin(most, x->aims->beat);
	return !is_planned(x, &c->cut) && least_seconds(x, c) *
		fmin(1, slowness_of(x, c->cut.nstages)) < most;
}

static int by_expected(const void *x, const void *y)
{
	const candidate *a = x, *b = y;
	return a->seconds != b->seconds
		       ? (a->seconds < b->seconds ? -1 : 1)
		       : a->cut.nstages - b->cut.nstages;
}

static int by_share(const void *x, const void *y)
{
	const candidate *a = x, *b = y;
	return a->share != b->share ? (a->share < b->share ? -1 : 1)
				    : by_expected(x, y);
}

/* Plans the splits expected to be fastest.  Returns how many. */
static int judge_all(searcher *x, candidates *all, pipeline_result *best)
{
	int n = x->planned.n;
	if (all->n > 0)
		qsort(all->at, (size_t)all->n, sizeof(candidate), by_expected);
	for (int i = 0; i < all->n && x->planned.n < n + MOST_PLANNED; i++)
		if (x->planned.n < x->most &&
		    is_hopeful(x, &all->at[i], best))
			judge(x, &all->at[i].cut, all->at[i].sampled, best);
	return x->planned.n - n;
}

/* The schedules that are tried besides 1F1B, with chunks in each stage. */
static const struct {
	pipeline_schedule kind;
	int chunks;
} others[] = {
	{ SCHEDULE_GPIPE, 1 },
	{ SCHEDULE_ZB, 1 },
	{ SCHEDULE_INTERLEAVED, 2 },
	{ SCHEDULE_INTERLEAVED, 3 },
	{ SCHEDULE_INTERLEAVED, 4 },
};

enum { NOTHERS = sizeof(others) / sizeof(*others) };

/* Plans the stages of a split by another schedule.  For interleaved ones the
 * layers are divided anew. */
static void judge_other(searcher *x, const pipeline_result *of, int i,
			pipeline_result *to)
{
	pipeline_cut cut = *of->cut;
	cut.kind = others[i].kind;
	cut.chunks = others[i].chunks;
	if (cut.nstages * cut.chunks > x->layers->n)
		return;
	if (cut.chunks > 1)
		pipeline_balance(x->how->arena, x->how, x->layers, &cut);
	judge(x, &cut, of->sampled, to);
}

/* Whether other schedules may be tried for a split. */
static bool has_others(const searcher *x, const pipeline_result *of)
{
	return !x->failed && x->aims->any_schedule && of->plan &&
	       of->cut->nstages > 1;
}

/* Tries other schedules for the best split. */
static void try_schedules(searcher *x, pipeline_result *best)
{
	const pipeline_result of = *best;
	for (int i = 0; i < NOTHERS && has_others(x, &of); i++)
		judge_other(x, &of, i, best);
}

/* ---- chunks ------------------------------------------------------------ */

/* Searches interleaved stages whose layers take equally long, with the ways of
 * the best split without chunks. */
static void search_chunks(searcher *x, pipeline_result *best)
{
	candidates all = { 0 };
	pipeline_splits_find(x, SCHEDULE_1F1B, &all);
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

/* If no plan fits and there are nsplits splits, none of them new: whether to
 * look for others.  If all need more memory than estimated, splits with a lower
 * estimate are tried.  If there are none, those with a higher estimate are
 * tried, because estimates may be too high, or to see what they need. */
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

/* Whether planning all splits takes almost no time, as there are few
 * devices. */
static bool is_small(const searcher *x)
{
	return x->how->k <= PIPELINE_FEW_DEVICES &&
	       x->layers->n <= PIPELINE_FEW_LAYERS &&
	       x->layers->g->nnodes <= PIPELINE_FEW_NODES;
}

/* Plans splits as long as some may be better.  What is learnt from each is used
 * for the next. */
static void search(searcher *x, pipeline_result *best)
{
	x->share = 1;
	x->most = x->planned.n + MOST_IN_ALL;
	for (int i = 0; i < MOST_ROUNDS && !x->failed; i++) {
		candidates all = { 0 };
		pipeline_splits_find(x, kind_of(x), &all);
		int n = judge_all(x, &all, best);
		if (isinf(x->share))
			x->share = 1;
		else if (n == 0 && !may_look_further(x, best, all.n))
			break;
	}
	try_schedules(x, best);
}

/* Refines by time if refining by memory ended above the limit: that may lead
 * below it. */
static void refine_by_time(searcher *x, const pipeline_result *from,
			   pipeline_result *best)
{
	pipeline_result fast = *from, again;
	plan_request roomy = *x->how;
	roomy.memory = PLAN_MAX_BYTES;
	x->failed = !pipeline_refine(&roomy, x->layers, &x->sums, NULL,
				     &fast) ||
		    !pipeline_plan(x->how, x->layers, fast.cut, &x->known,
				   &again);
	again.sampled = fast.sampled;
	if (!x->failed && pipeline_is_better(x->how, &again, best))
		*best = again;
}

/* Moves the cuts of the best plan to where they are best. */
static void refine(searcher *x, pipeline_result *best)
{
	const pipeline_result from = *best;
	if (!best->plan || x->failed)
		return;
	x->failed = !pipeline_refine(x->how, x->layers, &x->sums, &x->known,
				     best);
	if (!x->failed && !pipeline_is_within(x->how, best))
		refine_by_time(x, &from, best);
	note(x, best);
}

/* Plans the fastest new splits within a limit on their estimated memory. */
static int judge_within(searcher *x, pipeline_result *best, bool *any)
{
	candidates all = { 0 };
	int n = 0;
	pipeline_splits_find(x, kind_of(x), &all);
	*any = all.n > 0;
	if (all.n > 0)
		qsort(all.at, (size_t)all.n, sizeof(candidate), by_expected);
	for (int q = 0; q < all.n && q < MOST_PLANNED; q++)
		if (!is_planned(x, &all.at[q].cut)) {
			judge(x, &all.at[q].cut, all.at[q].sampled, best);
			n++;
		}
	return n;
}

/* Finds the best split of a small graph that needs less than `less' bytes, as
 * if there were only so much memory.  By the costs of layers alone these splits
 * are slower, but their programs need not be.  With less memory the search
 * comes to few plans that it would otherwise miss. */
static void search_below(searcher *x, int64_t less, pipeline_result *below)
{
	bool any = true;
	for (int i = 0; i < MOST_BELOW && !x->failed && any; i++) {
		pipeline_result one = { 0 };
		less = x->costed.memory = less - less / 8;
		for (int r = 0; r < MOST_ROUNDS_BELOW && !x->failed; r++)
			if (judge_within(x, &one, &any) == 0)
				break;
		refine(x, &one);
		take_better(x, &one, below);
	}
	x->costed.memory = x->how->memory;
}

/* Refines a plan that may then be better than the best, and takes it if it
 * is. */
static void refine_near(searcher *x, pipeline_result *one,
			pipeline_result *best)
{
	if (one->plan && one->seconds < NEAR * best->seconds)
		refine(x, one);
	take_better(x, one, best);
}

/* Refines the best split with each number of stages, by each schedule that may
 * be tried. */
static void try_each_number(searcher *x, pipeline_result *best)
{
	for (int n = 2; n <= PIPELINE_FEW_DEVICES; n++) {
		pipeline_result of = x->leading[n];
		refine_near(x, &of, best);
		for (int i = 0; i < NOTHERS && has_others(x, &of); i++) {
			pipeline_result other = { 0 };
			judge_other(x, &of, i, &other);
			refine_near(x, &other, best);
		}
	}
}

/* Tries the best split with states that every replica has completely.  If
 * states are small, gathering the results of their parts may take longer than
 * dividing them saves. */
static void try_whole_states(searcher *x, pipeline_result *best)
{
	bool any = false;
	if (!best->plan || x->failed)
		return;
	pipeline_cut cut = *best->cut;
	pipeline_way *ways = ARENA_COPY(x->how->arena, cut.ways, cut.nstages);
	for (int s = 0; s < cut.nstages; s++) {
		any |= ways[s].sharded;
		ways[s].sharded = false;
	}
	cut.ways = ways;
	if (any)
		judge(x, &cut, best->sampled, best);
}

/* Plans the new splits that are expected to need the least memory, as far as
 * they may need less than the least so far. */
static int judge_least(searcher *x, pipeline_result *least)
{
	candidates all = { 0 };
	int n = 0;
	pipeline_splits_find(x, kind_of(x), &all);
	if (all.n > 0)
		qsort(all.at, (size_t)all.n, sizeof(candidate), by_share);
	for (int i = 0; i < all.n && n < MOST_PLANNED; i++) {
		const candidate *c = &all.at[i];
		if (is_planned(x, &c->cut) ||
		    (least->plan && c->share > MOST_SHARE *
				    pipeline_excess(x->how, least)))
			continue;
		judge(x, &c->cut, c->sampled, least);
		n++;
	}
	return n;
}

/* Plans the fastest splits, and those that are expected to need the least
 * memory.  The fastest within a limit may turn out to need more, where others
 * do not; and if nothing fits, the result says what would be enough.  So what
 * was learnt within this limit is forgotten: with one that is enough the search
 * comes to the same splits. */
static void search_least(searcher *x, pipeline_result *best)
{
	pipeline_result least = { 0 };
	const pipeline_refusals refused = x->refused;
	bool any;
	pipeline_sums_forget(&x->sums);
	x->planned.n = 0;
	x->share = INFINITY;
	judge_within(x, &least, &any);
	x->by_memory = true;
	for (int r = 0; r < MOST_ROUNDS_BELOW && !x->failed; r++)
		if (judge_least(x, &least) == 0)
			break;
	x->by_memory = false;
	x->refused = refused;
	refine(x, &least);
	take_better(x, &least, best);
}

/* Finds the best split of a small graph that may be better than the best, which
 * fits, and that may only seem to need too much. */
static void search_beyond(searcher *x, pipeline_result *best)
{
	pipeline_result beyond = *best;
	if (x->failed || isinf(pipeline_limit(x->how, 0, x->how->k)) ||
	    !pipeline_is_within(x->how, best))
		return;
	candidates all = { 0 };
	x->share = MOST_SHARE;
	x->most = x->planned.n + MOST_PLANNED;
	pipeline_splits_find(x, kind_of(x), &all);
	if (judge_all(x, &all, &beyond) == 0)
		return;
	try_schedules(x, &beyond);
	refine(x, &beyond);
	take_better(x, &beyond, best);
}

/* Searches and refines more splits of a small graph. */
static void search_more(searcher *x, pipeline_result *best)
{
	pipeline_result more = { 0 }, below = { 0 };
	x->neighbours = true;
	search(x, &more);
	refine(x, &more);
	take_better(x, &more, best);
	double limit = pipeline_limit(x->how, 0, x->how->k);
	search_below(x, (int64_t)fmin(limit, 2 * (double)best->peak_bytes),
		     &below);
	take_better(x, &below, best);
	try_each_number(x, best);
	search_beyond(x, best);
}

/* Searches and refines splits of all kinds. */
static void search_all(searcher *x, pipeline_result *best)
{
	search(x, best);
	refine(x, best);
	if (best->plan && !x->failed && is_small(x))
		search_more(x, best);
	bool fits = isinf(pipeline_limit(x->how, 0, x->how->k)) ||
		    (best->plan && pipeline_is_within(x->how, best));
	if (x->aims->beat <= 0 && !x->failed && !fits)
		search_least(x, best);
}

/* Whether buckets may make the best plan, which fits in the memory, faster than
 * what is to be beaten.  They save latencies, rarely more than a fifth of a
 * step. */
static bool is_worth_buckets(const plan_request *how,
			     const pipeline_aims *aims,
			     const pipeline_result *best)
{
	static const double seldom = 0.8;
	return best->plan && (aims->beat <= 0 ||
			      (pipeline_is_within(how, best) &&
			       seldom * best->seconds < aims->beat));
}

bool pipeline_search(const plan_request *how, const pipeline_aims *aims,
		     pipeline_result *best)
{
	plan_request named = *how;
	searcher x = { .how = &named, .aims = aims, .tmp = arena_new(),
		       .share = INFINITY };
	named.algorithm = aims->inside ? aims->inside : PLAN_AUTO;
	x.costed = named;
	*best = (pipeline_result){ 0 };
	x.layers = pipeline_layers_new(how->arena, how->graph, how->topology);
	best->refused = pipeline_impossible(&named, aims, x.layers);
	if (!best->refused) {
		x.sums = (pipeline_sums){
			.a = x.tmp,
			.how = &x.costed,
			.costs = pipeline_costs_new(how->arena, x.layers),
			.recompute = aims->recompute,
		};
		x.measurer = (pipeline_measurer){ &named, &x.sums,
						  &x.refused, { 0 } };
		if (aims->beat > 0 && how->topology->nkinds == 0)
			pipeline_splits_alone(&x);
		if (!aims->any_schedule && aims->chunks > 1) {
			search_chunks(&x, best);
			refine(&x, best);
		} else {
			search_all(&x, best);
		}
		try_whole_states(&x, best);
	}
	if (!best->plan && (!best->refused || x.refused.plans > 0))
		best->refused = pipeline_refusals_text(&named, &x.refused,
						       x.layers);
	if (is_worth_buckets(&named, aims, best))
		pipeline_in_buckets(&named, best);
	arena_free(x.tmp);
	return !x.failed;
}
