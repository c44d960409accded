/* Exact splits into stages: dynamic programs over prefixes of the layers. */
#include "config.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "compiler/placement/split.h"
#include "compiler/placement/step_boxes.h"

double *intervals_table(arena *a, int n)
{
	return ARENA_ARRAY(a, double, (size_t)n * ((size_t)n + 1) / 2);
}

intervals *intervals_new(arena *a, int n, bool sync)
{
	intervals *t = ARENA_NEW(a, intervals);
	assert(n >= 1 && n <= SPLIT_MAX_LAYERS);
	t->n = n;
	t->time = intervals_table(a, n);
	t->fixed = intervals_table(a, n);
	t->kept = intervals_table(a, n);
	t->sync = sync ? intervals_table(a, n) : NULL;
	return t;
}

static double *floor_of(arena *a, int n, const double *of)
{
	double *least = intervals_table(a, n);
	for (int j = 1; j <= n; j++) {
		size_t row = interval_at(0, j);
		double at = INFINITY;
		for (int i = 0; i < j; i++)
			least[row + i] = at = fmin(at, of[row + i]);
	}
	return least;
}

void intervals_finish(arena *a, intervals *t)
{
	t->time_floor = floor_of(a, t->n, t->time);
	t->fixed_floor = floor_of(a, t->n, t->fixed);
	t->kept_floor = floor_of(a, t->n, t->kept);
}

/* ---- dynamic programs --------------------------------------------------- */

/* Upper limits of a stage's cost. */
typedef struct limits {
	double memory, time, sync;
} limits;

typedef enum goal {
	LEAST_MEMORY, /* greatest of a stage */
	LEAST_TIME,   /* greatest of a stage */
	LEAST_SUM,    /* sum of times, then the greatest memory */
} goal;

/* The best values of prefixes in s stages; `second' decides between equal
 * ones. */
typedef struct prefixes {
	double *first, *second;
} prefixes;

typedef struct program {
	const split_problem *p;
	limits max;
	goal goal;
	prefixes from, to;
	int *back; /* by stage s and end j */
} program;

/* Whether every stage [i', j) with i' <= i, where x is [i, j), exceeds a limit
 * or is no better than `best'. */
static bool hopeless(const program *g, int s, size_t x, double best)
{
	const intervals *t = g->p->of;
	double memory = t->fixed_floor[x] +
		g->p->in_flight[s] * t->kept_floor[x];
	if (t->time_floor[x] > g->max.time || memory > g->max.memory)
		return true;
	if (g->goal == LEAST_MEMORY)
		return memory >= best;
	if (g->goal == LEAST_TIME)
		return t->time_floor[x] >= best;
	return t->time_floor[x] > best;
}

/* Finds the best value of layers [0, j) with s as the last stage. */
static void extend(program *g, int s, int j)
{
	const intervals *t = g->p->of;
	double best = INFINITY, second = INFINITY;
	int arg = -1;
	for (int i = j - 1; i >= s; i--) {
		size_t x = interval_at(i, j);
		if (hopeless(g, s, x, best))
			break;
		double memory = split_memory(g->p, s, x), at = g->from.first[i];
		if (at == INFINITY || t->time[x] > g->max.time ||
		    memory > g->max.memory ||
		    (t->sync && t->sync[x] > g->max.sync))
			continue;
		double other = fmax(g->from.second[i], memory);
		double value = g->goal == LEAST_SUM ? at + t->time[x] :
			fmax(at, g->goal == LEAST_TIME ? t->time[x] : memory);
		if (value < best || (value == best && other < second)) {
			best = value;
			second = other;
			arg = i;
		}
	}
	g->to.first[j] = best;
	g->to.second[j] = second;
	g->back[(size_t)s * ((size_t)t->n + 1) + (size_t)j] = arg;
}

static void swap(prefixes *a, prefixes *b)
{
	prefixes c = *a;
	*a = *b;
	*b = c;
}

static prefixes no_prefixes(arena *a, int n)
{
	prefixes p = { ARENA_ARRAY(a, double, n + 1),
		       ARENA_ARRAY(a, double, n + 1) };
	for (int j = 0; j <= n; j++)
		p.first[j] = p.second[j] = INFINITY;
	return p;
}

/* The best value of a goal within limits; INFINITY if there is none.  first[0
 * .. S] becomes the split. */
static double solve(const split_problem *p, goal what, limits max, int *first)
{
	arena *own = arena_new();
	int n = p->of->n, S = p->nstages;
	program g = { p, max, what, no_prefixes(own, n), no_prefixes(own, n),
		      ARENA_ARRAY(own, int, (size_t)S * ((size_t)n + 1)) };
	g.to.first[0] = g.to.second[0] = 0;
	for (int s = 0; s < S; s++) {
		swap(&g.from, &g.to);
		for (int j = 0; j <= n; j++)
			g.to.first[j] = g.to.second[j] = INFINITY;
		for (int j = s == S - 1 ? n : s + 1; j <= n - (S - 1 - s); j++)
			extend(&g, s, j);
	}
	double value = g.to.first[n];
	first[S] = n;
	for (int s = S - 1; s >= 0 && value < INFINITY; s--)
		first[s] = g.back[(size_t)s * ((size_t)n + 1) +
				  (size_t)first[s + 1]];
	arena_free(own);
	return value;
}

void split_measure(const split_problem *p, split *s)
{
	double sum = 0, sync = 0;
	s->peak = s->bottleneck = 0;
	for (int i = 0; i < p->nstages; i++) {
		size_t x = interval_at(s->first[i], s->first[i + 1]);
		s->peak = fmax(s->peak, split_memory(p, i, x));
		s->bottleneck = fmax(s->bottleneck, p->of->time[x]);
		sum += p->of->time[x];
		if (p->of->sync)
			sync = fmax(sync, p->of->sync[x]);
	}
	s->step = sum + (p->micro_batches - 1) * s->bottleneck + sync;
}

/* ---- least step --------------------------------------------------------- */

typedef struct stepper {
	arena *a;
	const split_problem *p;
	limits max;
	split best;
	int *first;
} stepper;

static void keep_better(stepper *w)
{
	split s = { .first = w->first };
	split_measure(w->p, &s);
	if (s.step > w->best.step ||
	    (s.step == w->best.step && s.peak >= w->best.peak))
		return;
	memcpy(w->best.first, w->first,
	       sizeof(int) * ((size_t)w->p->nstages + 1));
	s.first = w->best.first;
	w->best = s;
}

static double look(void *of, double time, double exchange, double most)
{
	stepper *w = of;
	limits max = { w->max.memory, time, exchange };
	double sum = solve(w->p, LEAST_SUM, max, w->first);
	(void)most;
	if (sum < INFINITY)
		keep_better(w);
	return sum;
}

/* The greatest longest time that a better split than the best known one may
 * have: beyond it even the least sum of times gives a longer step.  The best
 * known split has the least longest time, `bound'.  A little is added for
 * rounding. */
static double longest_worth(stepper *w, double bound)
{
	limits max = w->max;
	double weight = w->p->micro_batches - 1;
	max.time = bound;
	if (solve(w->p, LEAST_SUM, max, w->first) < INFINITY)
		keep_better(w);
	double sum = solve(w->p, LEAST_SUM, w->max, w->first);
	keep_better(w);
	if (weight == 0 || w->best.step == INFINITY)
		return w->max.time;
	return fmin(w->max.time, (w->best.step - sum) / weight * (1 + 1e-9));
}

/* Looks at all splits that may be better than the best known one. */
static void look_at_all(stepper *w, double bound)
{
	static const double none[] = { 0 };
	const intervals *t = w->p->of;
	size_t all = interval_at(0, t->n + 1);
	step_boxes b = { .weight = w->p->micro_batches - 1, .exchanges = none,
			 .nexchanges = 1, .look = look, .of = w,
			 .step = &w->best.step };
	double most = longest_worth(w, bound);
	b.times = step_values(w->a, t->time, all, bound, most, &b.ntimes);
	if (t->sync)
		b.exchanges = step_values(w->a, t->sync, all, 0, INFINITY,
					  &b.nexchanges);
	step_boxes_search(w->a, &b);
}

/* Finds the least step of splits within limits, at most `limit'.  best->first
 * has room for the split. */
static bool least_step(const split_problem *p, limits max, double limit,
		       split *best)
{
	arena *own = arena_new();
	stepper w = { .a = own, .p = p, .max = max, .best = *best };
	w.best.step = limit;
	w.best.peak = INFINITY;
	w.first = ARENA_ARRAY(own, int, p->nstages + 1);
	double bound = solve(p, LEAST_TIME, max, w.first);
	if (bound < INFINITY)
		look_at_all(&w, bound);
	arena_free(own);
	*best = w.best;
	return best->peak < INFINITY;
}

/* ---- goals --------------------------------------------------------------- */

static const limits unlimited = { INFINITY, INFINITY, INFINITY };

bool split_least_peak(arena *a, const split_problem *p, split *best)
{
	limits max = unlimited;
	max.memory = p->cap;
	best->first = ARENA_ARRAY(a, int, p->nstages + 1);
	max.memory = solve(p, LEAST_MEMORY, max, best->first);
	return max.memory < INFINITY && least_step(p, max, INFINITY, best);
}

bool split_least_bottleneck(arena *a, const split_problem *p, split *best)
{
	limits max = unlimited;
	max.memory = p->cap;
	best->first = ARENA_ARRAY(a, int, p->nstages + 1);
	max.time = solve(p, LEAST_TIME, max, best->first);
	if (max.time == INFINITY)
		return false;
	max.memory = solve(p, LEAST_MEMORY, max, best->first);
	return least_step(p, max, INFINITY, best);
}

bool split_least_step(arena *a, const split_problem *p, double limit,
		      split *best)
{
	limits max = unlimited;
	max.memory = p->cap;
	best->first = ARENA_ARRAY(a, int, p->nstages + 1);
	return least_step(p, max, limit, best);
}

split_list split_frontier(arena *a, const split_problem *p, bool steps)
{
	split_problem q = *p;
	split_list back = { 0 }, out = { 0 };
	arena *own = arena_new();
	split s;
	while (steps ? split_least_step(a, &q, INFINITY, &s) :
	       split_least_bottleneck(a, &q, &s)) {
		vec_push(own, &back, s);
		q.cap = nextafter(s.peak, -INFINITY);
	}
	while (back.n > 0)
		vec_push(a, &out, back.at[--back.n]);
	arena_free(own);
	return out;
}

double split_peak(const split_problem *p)
{
	arena *own = arena_new();
	limits max = unlimited;
	max.memory = p->cap;
	double peak = solve(p, LEAST_MEMORY, max,
			    ARENA_ARRAY(own, int, p->nstages + 1));
	arena_free(own);
	return peak;
}

int split_exceeding_stage(arena *a, const split_problem *p, split *least)
{
	split_problem q = *p;
	int worst = 0;
	double most = -1;
	q.cap = INFINITY;
	if (!split_least_peak(a, &q, least))
		return -1;
	for (int s = 0; s < p->nstages; s++) {
		size_t x = interval_at(least->first[s], least->first[s + 1]);
		if (split_memory(p, s, x) > most) {
			most = split_memory(p, s, x);
			worst = s;
		}
	}
	return worst;
}
