#include "config.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "compiler/placement/split.h"
#include "compiler/placement/stage_search.h"
#include "compiler/placement/step_boxes.h"

/* ---- figures of a plan --------------------------------------------------- */

static int stage_of(const stage_plan *plan, int i)
{
	int s = 0;
	while (plan->first[s + 1] <= i)
		s++;
	return s;
}

/* The bytes per sample that wait at stage s for later stages, added up in the
 * same order as in the programs. */
static double waiting(const stage_problem *p, const stage_plan *plan, int s)
{
	const stage_costs *c = p->costs;
	double bytes = 0;
	for (int i = plan->first[s + 1] - 1; i >= plan->first[s]; i--)
		for (int k = c->first_skip[i]; k < c->first_skip[i + 1]; k++) {
			int r = stage_of(plan, c->skips[k].to);
			bytes += c->skips[k].act * (schedule_in_flight(
				p->schedule, s, plan->nstages, 1,
				p->micro_batches) - schedule_in_flight(
				p->schedule, r, plan->nstages, 1,
				p->micro_batches));
		}
	return bytes;
}

static double measure_stage(const stage_problem *p, stage_found *f, int s)
{
	const stage_way *w = &p->ways[f->plan.way[s]];
	size_t x = interval_at(f->plan.first[s], f->plan.first[s + 1]);
	stage_cost c = stage_cost_of(p->costs, x, w, p->samples, f->devices);
	int n = schedule_in_flight(p->schedule, s, f->plan.nstages, 1,
				   p->micro_batches);
	f->seconds[s] = c.time;
	f->bytes[s] = stage_bytes(&c, n, waiting(p, &f->plan, s),
				  p->samples / w->replicas);
	f->peak = fmax(f->peak, f->bytes[s]);
	f->bottleneck = fmax(f->bottleneck, c.time);
	return c.sync;
}

void stage_measure(arena *a, const stage_problem *p, stage_found *f)
{
	double sum = 0, sync = 0;
	int n = f->plan.nstages;
	f->bytes = ARENA_ARRAY(a, double, n);
	f->seconds = ARENA_ARRAY(a, double, n);
	f->devices = 0;
	f->peak = f->bottleneck = 0;
	for (int s = 0; s < n; s++) {
		const stage_way *w = &p->ways[f->plan.way[s]];
		f->devices += w->replicas * w->tensor;
	}
	for (int s = 0; s < n; s++) {
		sync = fmax(sync, measure_stage(p, f, s));
		sum += f->seconds[s];
	}
	f->step = sum + (p->micro_batches - 1) * f->bottleneck + sync;
}

/* ---- branch and bound over the readers of skips -------------------------- */

typedef struct search {
	arena *a;
	stage_problem p; /* with the schedule's micro-batches in flight */
	stage_program *g;
	bool peak;     /* minimise the peak, not the step */
	double *value; /* of the best plan: its step or peak */
	stage_found *best;
	stage_plan plan; /* scratch */
	int64_t *work;	 /* steps that are left; -1: there were too few */
} search;

/* Keeps the plan if it is better than the best so far, and fits. */
static double keep_better(search *w)
{
	arena *own = arena_new();
	stage_found f = { .plan = w->plan };
	stage_measure(own, &w->p, &f);
	double value = w->peak ? f.peak : f.step, peak = f.peak;
	if (value < *w->value && peak <= w->p.cap) {
		f.plan.first = ARENA_COPY(w->a, f.plan.first,
					  f.plan.nstages + 1);
		f.plan.way = ARENA_COPY(w->a, f.plan.way, f.plan.nstages);
		stage_measure(w->a, &w->p, &f);
		*w->best = f;
		*w->value = value;
	}
	arena_free(own);
	return peak;
}

/* A node of the search: the allowed numbers of stages after each layer's. */
typedef struct node {
	int *least, *most;
} node;

typedef VEC(node) nodes;

static node new_node(arena *a, int n, const node *from)
{
	node x = { ARENA_ARRAY(a, int, n), ARENA_ARRAY(a, int, n) };
	for (int i = 0; i < n; i++) {
		x.least[i] = from ? from->least[i] : 0;
		x.most[i] = from ? from->most[i] : n;
	}
	return x;
}

/* The skip for which the program underestimated the most waiting bytes; -1 if
 * there is none.  *behind: the stages after its reader. */
static int loosest(const search *w, const node *x, int *behind)
{
	const stage_costs *c = w->p.costs;
	double most = 0;
	int worst = -1;
	for (int k = 0; k < c->t->nskips; k++) {
		const layer_skip *s = &c->skips[k];
		int last = w->plan.nstages - 1;
		int from = last - stage_of(&w->plan, s->from);
		int to = last - stage_of(&w->plan, s->to);
		int known = x->most[s->to] < from ? x->most[s->to] : from - 1;
		if (from == to || known <= to)
			continue;
		double bytes = s->act * (stage_in_flight_of(&w->p, known) -
					 stage_in_flight_of(&w->p, to));
		if (bytes <= most)
			continue;
		most = bytes;
		worst = s->to;
		*behind = to;
	}
	return worst;
}

/* Splits a node by the reader's stage: what it is now, and everything else. */
static void branch(arena *a, nodes *todo, const node *x, int n, int reader,
		   int behind)
{
	if (behind < x->most[reader]) {
		node later = new_node(a, n, x);
		later.least[reader] = behind + 1;
		vec_push(a, todo, later);
	}
	node same = new_node(a, n, x);
	same.most[reader] = behind;
	vec_push(a, todo, same);
}

static double run_program(search *w, const stage_limits *max)
{
	return w->peak ? stage_program_peak(w->g, max, &w->plan) :
			 stage_program_sum(w->g, max, &w->plan);
}

/* The least value if readers of skips count as being in the last stage.  This
 * gives a plan, but perhaps not the best. */
static double explore_once(search *w, stage_limits max)
{
	arena *own = arena_new();
	max.most_behind = ARENA_ARRAY(own, int, w->p.costs->t->n);
	double v = run_program(w, &max);
	if (v < INFINITY)
		keep_better(w);
	arena_free(own);
	return v;
}

/* The least value of the program within limits, over all possible stages of
 * skips' readers; INFINITY if there is none. */
static double explore_readers(search *w, stage_limits max)
{
	arena *own = arena_new();
	int n = w->p.costs->t->n, behind;
	double best = INFINITY;
	nodes todo = { 0 };
	vec_push(own, &todo, new_node(own, n, NULL));
	while (todo.n > 0 && *w->work >= 0) {
		node x = todo.at[--todo.n];
		*w->work -= stage_program_work(w->g);
		max.least_behind = x.least;
		max.most_behind = x.most;
		double v = run_program(w, &max);
		if (v == INFINITY)
			continue;
		int reader = keep_better(w) > (w->peak ? v : max.memory) ?
			loosest(w, &x, &behind) : -1;
		if (reader >= 0)
			branch(own, &todo, &x, n, reader, behind);
		else
			max.most = best = v;
		if (w->peak)
			max.most = fmin(max.most, *w->value);
	}
	arena_free(own);
	return best;
}

static double explore(search *w, stage_limits max)
{
	bool waits = w->p.costs->t->nskips > 0 && w->p.in_flight == 0;
	double v = INFINITY;
	if (waits && *w->work >= 0) {
		v = explore_readers(w, max);
		if (*w->work >= 0)
			return v;
		*w->work = -1;
	}
	if (waits)
		return fmin(v, explore_once(w, max));
	v = run_program(w, &max);
	if (v < INFINITY)
		keep_better(w);
	return v;
}

static stage_limits limits_of(const search *w)
{
	return (stage_limits){ .memory = w->p.cap, .time = INFINITY,
			       .sync = INFINITY, .most = INFINITY };
}

/* ---- least steps --------------------------------------------------------- */

/* Steps that differ only by rounding count as equal. */
static double look(void *of, double time, double exchange, double most)
{
	search *w = of;
	stage_limits max = limits_of(w);
	max.time = time;
	max.sync = exchange;
	max.most = *w->value < INFINITY ? most - 1e-12 * *w->value : most;
	return explore(w, max);
}

static void search_step(search *w)
{
	arena *own = arena_new();
	step_boxes b = { .weight = w->p.micro_batches - 1, .look = look,
			 .of = w, .step = w->value };
	double least = stage_program_longest(w->g, w->p.cap), most = INFINITY;
	double sum = stage_program_least_sum(w->g, w->p.cap);
	if (b.weight > 0 && *w->value < INFINITY)
		most = (*w->value - sum) / b.weight * (1 + 1e-9);
	if (sum < *w->value && least <= most) {
		stage_values v = stage_program_values(own, w->g);
		b.times = step_values(own, v.times, v.n, least, most,
				      &b.ntimes);
		b.exchanges = step_values(own, v.syncs, v.n, 0, INFINITY,
					  &b.nexchanges);
		step_boxes_search(own, &b);
	}
	arena_free(own);
}

/* ---- schedules ----------------------------------------------------------- */

static void search_in_flight(search *w)
{
	arena *own = arena_new();
	int most = w->p.most_stages;
	w->g = stage_program_new(own, &w->p);
	w->plan.first = ARENA_ARRAY(own, int, most + 1);
	w->plan.way = ARENA_ARRAY(own, int, most);
	if (w->peak) {
		stage_limits max = limits_of(w);
		max.most = *w->value;
		explore(w, max);
	} else {
		search_step(w);
	}
	arena_free(own);
}

static int least_of(int x, int y)
{
	return x < y ? x : y;
}

/* Searches with the schedule `zb'.  As many micro-batches are in flight as
 * there are stages, so each number of stages is a search of its own, except
 * that numbers of at least M share one. */
static void search_zb(search *w)
{
	int M = w->p.micro_batches, most = w->p.most_stages;
	int first = least_of(M, w->p.least_stages), last = least_of(M, most);
	for (int n = first; n <= last; n++) {
		w->p.in_flight = n;
		w->p.most_stages = n < M ? n : most;
		search_in_flight(w);
	}
}

static bool search_all(arena *a, const stage_problem *p, bool peak,
		       double below, stage_found *f, int64_t *work)
{
	search w = { .a = a, .p = *p, .peak = peak, .value = &below,
		     .best = f, .work = work };
	double known = below;
	w.p.most_stages = least_of(p->most_stages,
				   least_of(p->costs->t->n, p->devices));
	if (w.p.least_stages > w.p.most_stages)
		return false;
	w.p.in_flight = p->schedule == SCHEDULE_GPIPE ? p->micro_batches : 0;
	if (p->schedule == SCHEDULE_ZB)
		search_zb(&w);
	else
		search_in_flight(&w);
	return below < known;
}

bool stage_search_peak(arena *a, const stage_problem *p, double below,
		       stage_found *f, int64_t *work)
{
	return search_all(a, p, true, below, f, work);
}

bool stage_search_step(arena *a, const stage_problem *p, double below,
		       stage_found *f, int64_t *work)
{
	return search_all(a, p, false, below, f, work);
}
