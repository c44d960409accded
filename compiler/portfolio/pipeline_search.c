#include "config.h"

#include "compiler/portfolio/pipeline_search.h"

#include <math.h>
#include <string.h>

#include "compiler/portfolio/pipeline_costs.h"
#include "compiler/portfolio/pipeline_program.h"

enum {
	MOST_UNEVEN = 16,  /* devices of which stages may have any number */
	MOST_LAYERS = 64,  /* that are divided so */
	MOST_PLANNED = 3,  /* splits that are planned as they are */
	MOST_TRIES = 3,	   /* with less and less memory, .. */
	MOST_MORE = 5,	   /* .. and then, as long as nothing fits */
	MOST_TENSOR = 32,  /* devices of a replica, where any may be */
};

/* A way, with sums of its costs over the layers before each. */
typedef struct way_sums {
	pipeline_way way;
	double *computing, *moving, *fixed, *kept;
	double *passing; /* [i (n + 1) + j]: the most of layers [i, j) */
	double *once;
	double *given; /* by layer: the part that is on a device */
	double hidden;
} way_sums;

typedef struct searcher {
	const plan_request *how;
	const pipeline_aims *aims;
	arena *tmp;
	const pipeline_layers *layers;
	const pipeline_costs *costs;
	/* [i (n + 1) + j]: bytes that layers [i, j) are given; NULL where
	 * nothing is computed again. */
	const double *given;
	VEC(way_sums) ways;
	VEC(int) measured; /* numbers of devices whose ways are there */
	double share;	   /* of a device's limit that may be used */
	double excess; /* of the limit, the most that a fast plan needs */
	/* Of the problem that is solved: */
	const int *first_device; /* by group */
	bool failed;
} searcher;

/* A split, and the step that the program expects. */
typedef struct candidate {
	pipeline_cut cut;
	double seconds;
} candidate;

typedef VEC(candidate) candidates;

/* ---- ways -------------------------------------------------------------- */

/* The most of the layers of each interval. */
static void fill_passing(searcher *x, const way_costs *w, way_sums *to)
{
	int n = x->layers->n, row = n + 1;
	to->passing = ARENA_ARRAY(x->tmp, double, (size_t)row * (size_t)row);
	for (int i = 0; i < n; i++) {
		double most = 0;
		for (int j = i; j < n; j++) {
			most = fmax(most,
				    w->of[x->costs->class[j]].passing);
			to->passing[i * row + j + 1] = most;
		}
	}
}

static void add_sums(searcher *x, const way_costs *w)
{
	int n = x->layers->n;
	way_sums s = { .way = w->way, .hidden = w->hidden };
	double **to[] = { &s.computing, &s.moving, &s.fixed, &s.kept,
			  &s.once };
	for (int k = 0; k < 5; k++)
		*to[k] = ARENA_ARRAY(x->tmp, double, n + 1);
	s.given = ARENA_ARRAY(x->tmp, double, n + 1);
	for (int i = 0; i < n; i++) {
		const layer_cost *c = &w->of[x->costs->class[i]];
		const double of[] = {
			c->computing + (x->given ? c->forward_computing : 0),
			c->moving + (x->given ? c->forward_moving : 0),
			c->fixed, c->kept, c->once };
		s.given[i] = c->given;
		for (int k = 0; k < 5; k++)
			(*to[k])[i + 1] = (*to[k])[i] + of[k];
	}
	fill_passing(x, w, &s);
	vec_push(x->tmp, &x->ways, s);
}

static void add_way(searcher *x, int devices, int replicas,
		    const char *algorithm, search_variant variant)
{
	way_costs w;
	bool refused;
	const pipeline_way way = { devices, replicas, algorithm, variant };
	if (x->failed)
		return;
	if (!pipeline_costs_measure(x->how, x->costs, &way, &w, &refused))
		x->failed = true;
	else if (!refused)
		add_sums(x, &w);
}

/* The ways of so many devices, once. */
static void add_ways(searcher *x, int devices)
{
	const pipeline_aims *aims = x->aims;
	const graph_turns *t = x->layers->g->turns;
	int64_t samples = t->batch / t->turns;
	for (int i = 0; i < x->measured.n; i++)
		if (x->measured.at[i] == devices)
			return;
	vec_push(x->tmp, &x->measured, devices);
	for (int d = 1; d <= devices; d++) {
		int inner = devices / d;
		if (devices % d != 0 ||
		    (aims->replicas ? d != aims->replicas
				    : d > 1 && d > samples))
			continue;
		if (!aims->inside && inner > MOST_TENSOR)
			continue;
		if (aims->inside || inner == 1) {
			add_way(x, devices, d,
				aims->inside ? aims->inside
					     : pipeline_any_inside->algorithm,
				x->how->variant);
			continue;
		}
		for (int i = 0; i < PIPELINE_INSIDES; i++)
			add_way(x, devices, d, pipeline_insides[i].algorithm,
				pipeline_insides[i].variant);
	}
}

/* ---- costs of stages --------------------------------------------------- */

/* Whether some of devices [begin, end) are of kind i, the first of which is
 * number `at'. */
static bool has_kind(const topology *t, int i, int at, int begin, int end)
{
	return at < end && at + t->kinds[i].count > begin;
}

static double slowest_of(const topology *t, int begin, int end)
{
	double speed = INFINITY;
	int at = 0;
	for (int i = 0; i < t->nkinds; at += t->kinds[i++].count)
		if (has_kind(t, i, at, begin, end))
			speed = fmin(speed, t->kinds[i].speed);
	return t->nkinds > 0 ? speed : 1;
}

/* The bytes that each of devices [begin, end) may need; INFINITY.  Without a
 * limit what fits the machine is better. */
static double limit_of(const plan_request *how, int begin, int end)
{
	const topology *t = how->topology;
	int64_t all = how->memory > 0 ? how->memory : t->memory;
	double limit = all > 0 ? (double)all : INFINITY;
	int at = 0;
	for (int i = 0; i < t->nkinds; at += t->kinds[i++].count)
		if (has_kind(t, i, at, begin, end) && t->kinds[i].memory > 0)
			limit = fmin(limit, (double)t->kinds[i].memory);
	return limit;
}

/* Where a stage computes its forward pass again, each micro-batch keeps what it
 * is given, and the one that is computed the rest. */
static double bytes_of(const searcher *x, const way_sums *w, int i, int j,
		       int in_flight)
{
	int at = i * (x->layers->n + 1) + j;
	double kept = w->kept[j] - w->kept[i];
	return w->fixed[j] - w->fixed[i] + w->passing[at] +
	       (x->given ? in_flight * w->given[i] * x->given[at] + kept
			 : in_flight * kept);
}

static double seconds_of(const way_sums *w, int i, int j, double speed)
{
	double computing = (w->computing[j] - w->computing[i]) / speed;
	double moving = w->moving[j] - w->moving[i];
	return computing + moving - w->hidden * fmin(computing, moving);
}

/* The best way; NULL. */
static const way_sums *best_way(const searcher *x, int i, int j, int begin,
				int end, int in_flight, double *seconds)
{
	const way_sums *best = NULL;
	double speed = slowest_of(x->how->topology, begin, end);
	double memory = isinf(x->share)
				? INFINITY
				: x->share * limit_of(x->how, begin, end);
	int turns = x->layers->g->turns->turns;
	*seconds = INFINITY;
	for (int k = 0; k < x->ways.n; k++) {
		const way_sums *w = &x->ways.at[k];
		if (w->way.devices != end - begin ||
		    bytes_of(x, w, i, j, in_flight) > memory)
			continue;
		double s = seconds_of(w, i, j, speed) +
			   (w->once[j] - w->once[i]) / turns;
		if (s >= *seconds)
			continue;
		*seconds = s;
		best = w;
	}
	return best;
}

static double stage_seconds(void *of, int i, int j, int a, int b,
			    int in_flight)
{
	const searcher *x = of;
	double seconds;
	best_way(x, i, j, x->first_device[a], x->first_device[b], in_flight,
		 &seconds);
	return seconds;
}

/* ---- splits ------------------------------------------------------------ */

/* Whether devices [begin, end) fill levels of the machine, or are a part of
 * one. */
static bool is_aligned(const topology *t, int begin, int end)
{
	int64_t span = 1;
	for (int i = t->nlevels; i-- > 0 && t->levels[i].size;) {
		span *= t->levels[i].size;
		bool inside = begin / span == (end - 1) / span;
		if (!inside && (begin % span || end % span))
			return false;
	}
	return true;
}

static int in_flight_of(const pipeline_cut *c, int s, int turns)
{
	return schedule_in_flight(c->kind, s, c->nstages, 1, turns);
}

/* Takes over a split that the program has found. */
static void take_split(searcher *x, const pipeline_split *s,
		       pipeline_schedule kind, candidates *all)
{
	arena *a = x->how->arena;
	pipeline_way *ways = ARENA_ARRAY(a, pipeline_way, s->nstages);
	pipeline_cut cut = { s->nstages, 1, kind, x->aims->recompute,
			     ARENA_COPY(a, s->first, s->nstages + 1), ways };
	int turns = x->layers->g->turns->turns;
	for (int q = 0; q < s->nstages; q++) {
		double seconds;
		const way_sums *w = best_way(
			x, s->first[q], s->first[q + 1],
			x->first_device[s->group[q]],
			x->first_device[s->group[q + 1]],
			in_flight_of(&cut, q, turns), &seconds);
		ways[q] = w->way;
	}
	vec_push(a, all, ((candidate){ cut, s->seconds }));
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
		.least_stages = single ? ngroups : n ? n : 1,
		.most_stages = single ? ngroups : n ? n : ngroups,
		.micro_batches = x->layers->g->turns->turns,
		.kind = kind,
		.seconds = stage_seconds,
		.of = x,
		.between = seconds_between(x),
	};
	x->first_device = group;
	if (pipeline_program_solve(tmp, &p, &best))
		take_split(x, &best, kind, all);
	arena_free(tmp);
}

/* Stages of equally many devices, or as even as can be. */
static void split_evenly(searcher *x, int nstages, pipeline_schedule kind,
			 candidates *all)
{
	const int *n = pipeline_even(x->tmp, x->how->k, nstages);
	int *first = ARENA_ARRAY(x->tmp, int, nstages + 1);
	for (int s = 0; s < nstages; s++) {
		first[s + 1] = first[s] + n[s];
		if (!is_aligned(x->how->topology, first[s], first[s + 1]))
			return;
		add_ways(x, n[s]);
	}
	split_groups(x, first, nstages, true, kind, all);
}

/* Stages of any numbers of devices, of few. */
static void split_unevenly(searcher *x, pipeline_schedule kind,
			   candidates *all)
{
	int k = x->how->k;
	int *first = ARENA_ARRAY(x->tmp, int, k + 1);
	if (k > MOST_UNEVEN || x->layers->n > MOST_LAYERS)
		return;
	for (int i = 1; i <= k; i++) {
		first[i] = i;
		add_ways(x, i);
	}
	split_groups(x, first, k, false, kind, all);
}

/* The splits for a schedule. */
static void find_splits(searcher *x, pipeline_schedule kind, candidates *all)
{
	int n = x->aims->nstages, k = x->how->k;
	int most = k < x->layers->n ? k : x->layers->n;
	for (int s = n ? n : 1; s <= (n ? n : most) && !x->failed; s++)
		if (s <= most && (n || k % s == 0))
			split_evenly(x, s, kind, all);
	if (!x->failed && (x->how->topology->nkinds > 0 || k <= 8 || n))
		split_unevenly(x, kind, all);
}

/* ---- judging ----------------------------------------------------------- */

int pipeline_fullest(const plan_request *how, const pipeline_result *r,
		     double *limit)
{
	double most = -1;
	int fullest = 0, begin = 0;
	for (int s = 0; s < r->plan->nstages; s++) {
		int end = begin + r->stages[s].way.devices;
		double own = limit_of(how, begin, end);
		double bytes = (double)r->plan->stages[s].arena_bytes;
		begin = end;
		if (bytes / own <= most)
			continue;
		most = bytes / own;
		fullest = s;
		*limit = own;
	}
	return fullest;
}

/* The need of the stage that lacks most, over what there is. */
static double excess_of(const plan_request *how, const pipeline_result *r)
{
	double limit;
	int s = pipeline_fullest(how, r, &limit);
	return (double)r->plan->stages[s].arena_bytes / limit;
}

static bool is_within(const plan_request *how, const pipeline_result *r)
{
	return excess_of(how, r) <= 1;
}

bool pipeline_fits(const plan_request *how, const pipeline_result *r)
{
	bool limited = how->memory > 0 || how->topology->nkinds > 0;
	return r->plan && (!limited || is_within(how, r));
}

bool pipeline_is_better(const plan_request *how, const pipeline_result *x,
			const pipeline_result *y)
{
	if (!x->plan || !y->plan)
		return x->plan != NULL;
	bool fits = is_within(how, x);
	if (fits != is_within(how, y))
		return fits;
	return fits ? x->seconds < y->seconds : x->peak_bytes < y->peak_bytes;
}

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

static void judge(searcher *x, const pipeline_cut *of, pipeline_result *best)
{
	pipeline_result r;
	pipeline_cut cut = *of;
	if (x->failed)
		return;
	x->failed = !plan_cut(x, &cut, &r);
	if (x->failed)
		return;
	bool fast = !best->plan || !is_within(x->how, best) ||
		    r.seconds < best->seconds;
	if (r.plan && fast)
		x->excess = fmax(x->excess, excess_of(x->how, &r));
	if (pipeline_is_better(x->how, &r, best)) {
		r.cut = ARENA_COPY(x->how->arena, &cut, 1);
		*best = r;
	} else if (r.refused && !best->plan && !best->refused) {
		*best = r;
	}
}

static bool same_cut(const pipeline_cut *x, const pipeline_cut *y)
{
	bool same = x->nstages == y->nstages && x->kind == y->kind &&
		    !memcmp(x->first, y->first,
			    (size_t)(x->nstages + 1) * sizeof(*x->first));
	for (int s = 0; same && s < x->nstages; s++)
		same = pipeline_way_equal(&x->ways[s], &y->ways[s]);
	return same;
}

/* Whether a split may be better than the best that is planned. */
static bool is_hopeful(const searcher *x, const candidate *c,
		       const pipeline_result *best)
{
	if (!best->plan)
		return true;
	return !same_cut(&c->cut, best->cut) &&
	       (!is_within(x->how, best) || c->seconds < best->seconds);
}

static void judge_all(searcher *x, candidates *all, pipeline_result *best)
{
	for (int n = 0; n < MOST_PLANNED && n < all->n; n++) {
		int least = n;
		for (int i = n; i < all->n; i++)
			if (all->at[i].seconds < all->at[least].seconds)
				least = i;
		candidate one = all->at[least];
		all->at[least] = all->at[n];
		all->at[n] = one;
		if (is_hopeful(x, &one, best))
			judge(x, &one.cut, best);
		else if (same_cut(&one.cut, best->cut))
			x->excess = fmax(x->excess, excess_of(x->how, best));
	}
}

/* Other schedules of the best split, the layers of interleaved ones anew. */
static void try_schedules(searcher *x, pipeline_result *best)
{
	if (!best->plan || !x->aims->any_schedule || best->cut->nstages == 1)
		return;
	const pipeline_cut of = *best->cut;
	pipeline_cut cut = of;
	cut.kind = SCHEDULE_ZB;
	judge(x, &cut, best);
	for (int v = 2; v <= 4 && v * of.nstages <= x->layers->n; v++) {
		cut.kind = SCHEDULE_INTERLEAVED;
		cut.chunks = v;
		pipeline_balance(x->how->arena, x->how, x->layers, &cut);
		judge(x, &cut, best);
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
		judge(x, &cut, best);
	}
}

/* ---- all --------------------------------------------------------------- */

/* With less memory as long as what is planned needs more than there is. */
static void search(searcher *x, pipeline_result *best)
{
	bool limited = limit_of(x->how, 0, x->how->k) < INFINITY;
	x->share = 1;
	for (int i = 0; i < MOST_TRIES + MOST_MORE && !x->failed; i++) {
		candidates all = { 0 };
		x->excess = 0;
		find_splits(x, x->aims->any_schedule ? SCHEDULE_1F1B
						     : x->aims->kind, &all);
		judge_all(x, &all, best);
		if (all.n == 0 && i == 0 && limited) {
			x->share = INFINITY;
			continue;
		}
		if (!best->plan || x->excess <= 1 || isinf(x->share) ||
		    (i + 1 >= MOST_TRIES && is_within(x->how, best)))
			break;
		x->share *= 0.99 / x->excess;
	}
	try_schedules(x, best);
}

static const char *refused(const searcher *x)
{
	const pipeline_aims *aims = x->aims;
	int n = aims->nstages, k = x->how->k, layers = x->layers->n;
	arena *a = x->how->arena;
	if (n > k)
		return arena_printf(a, "%d device%s cannot make %d stages", k,
				    k == 1 ? "" : "s", n);
	if (n * aims->chunks > layers)
		return arena_printf(a, "%d layer%s cannot make %d %s", layers,
				    layers == 1 ? "" : "s", n * aims->chunks,
				    aims->chunks > 1 ? "chunks" : "stages");
	return arena_printf(a, "no division of %d layers among %d devices of "
			    "'%s' was found", layers, k,
			    x->how->topology->name);
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
	bool possible = aims->nstages <= how->k &&
			aims->nstages * aims->chunks <= x.layers->n;
	if (possible) {
		x.costs = pipeline_costs_new(how->arena, x.layers);
		x.given = aims->recompute
				  ? pipeline_layers_given(x.tmp, x.layers)
				  : NULL;
		if (!aims->any_schedule && aims->chunks > 1)
			search_chunks(&x, best);
		else
			search(&x, best);
	}
	if (!best->plan && !best->refused)
		best->refused = refused(&x);
	arena_free(x.tmp);
	return !x.failed;
}
