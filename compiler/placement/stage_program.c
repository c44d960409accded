#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "compiler/placement/split.h"
#include "compiler/placement/stage_program.h"

/* A way of an interval. */
typedef struct choice {
	stage_cost cost;
	int way;
} choice;

/* The stage by which a state was reached. */
typedef struct step {
	int16_t end, way;
	bool up; /* from the level below, not from the same one */
} step;

struct stage_program {
	stage_problem p;
	int n;
	/* devices are counted in units, which divide the devices of each way;
	 * number of units */
	int unit, units;
	int top;      /* levels 0 .. top */
	/* a level is the number of stages; otherwise `top' also stands for
	 * more */
	bool counted;
	/* Ways by number of devices.  Those of size z have size[z] units and
	 * are first[z] .. first[z + 1]. */
	int nsizes, *size, *first;
	choice *choices; /* by interval; those of one size by time */
	double *least_time, *least_bytes; /* of [i', j), i' <= i */
	double *value; /* by state */
	step *by;      /* by state */
	double *rest;  /* by layers before and devices left */
	int *alive;    /* scratch: devices used */
};

int stage_in_flight_of(const stage_problem *p, int behind)
{
	if (p->in_flight > 0)
		return p->in_flight;
	return behind < p->micro_batches ? behind + 1 : p->micro_batches;
}

/* ---- tables -------------------------------------------------------------- */

static int width(const stage_way *w)
{
	return w->replicas * w->tensor;
}

static int unit_of(const stage_problem *p)
{
	int unit = 0;
	for (int w = 0; w < p->nways; w++)
		for (int x = width(&p->ways[w]); x > 0;) {
			int rest = unit % x;
			unit = x;
			x = rest;
		}
	return unit > 0 ? unit : 1;
}

/* Sets the levels beyond which nothing changes.  These are the possible numbers
 * of stages or, if the number is not asked for, the numbers that change what is
 * in flight. */
static int levels(const stage_problem *p, bool *counted)
{
	const layer_table *t = p->costs->t;
	int most = t->n < p->devices ? t->n : p->devices;
	int grow = p->in_flight > 0 ? 0 : p->micro_batches - 1;
	*counted = p->least_stages > 1 || p->most_stages < most ||
		   (t->nskips > 0 && p->in_flight == 0);
	most = p->most_stages < most ? p->most_stages : most;
	return *counted || most < grow ? most : grow;
}

static size_t states(const stage_program *g)
{
	return ((size_t)g->top + 1) * ((size_t)g->n + 1) *
		((size_t)g->units + 1);
}

static stage_program dimensions(const stage_problem *p)
{
	stage_program g = { .p = *p, .n = p->costs->t->n };
	g.unit = unit_of(p);
	g.units = p->devices / g.unit;
	g.top = levels(p, &g.counted);
	return g;
}

bool stage_program_fits(const stage_problem *p)
{
	stage_program g = dimensions(p);
	return p->nways <= STAGE_MAX_WAYS && states(&g) <= STAGE_MAX_STATES &&
		interval_at(0, g.n + 1) * (size_t)p->nways <= STAGE_MAX_COSTS;
}

static void find_sizes(arena *a, stage_program *g)
{
	const stage_problem *p = &g->p;
	g->size = ARENA_ARRAY(a, int, p->nways);
	g->first = ARENA_ARRAY(a, int, p->nways + 1);
	for (int w = 0; w < p->nways; w++) {
		int size = width(&p->ways[w]) / g->unit;
		if (w > 0 && size == g->size[g->nsizes - 1])
			continue;
		g->first[g->nsizes] = w;
		g->size[g->nsizes++] = size;
	}
	g->first[g->nsizes] = p->nways;
}

static int by_time(const void *x, const void *y)
{
	const choice *a = x, *b = y;
	if (a->cost.time != b->cost.time)
		return a->cost.time < b->cost.time ? -1 : 1;
	return (a->way > b->way) - (a->way < b->way);
}

static void fill_choices(stage_program *g, size_t x)
{
	const stage_problem *p = &g->p;
	choice *c = &g->choices[x * (size_t)p->nways];
	for (int w = 0; w < p->nways; w++)
		c[w] = (choice){ stage_cost_of(p->costs, x, &p->ways[w],
					       p->samples, p->devices), w };
	for (int z = 0; z < g->nsizes; z++)
		qsort(&c[g->first[z]], (size_t)(g->first[z + 1] - g->first[z]),
		      sizeof(*c), by_time);
}

static void fill_tables(stage_program *g)
{
	int nways = g->p.nways, flight = stage_in_flight_of(&g->p, 0);
	for (int j = 1; j <= g->n; j++) {
		double time = INFINITY, bytes = INFINITY;
		for (int i = 0; i < j; i++) {
			size_t x = interval_at(i, j);
			const choice *c = &g->choices[x * (size_t)nways];
			fill_choices(g, x);
			for (int w = 0; w < nways; w++) {
				time = fmin(time, c[w].cost.time);
				bytes = fmin(bytes, stage_bytes(
					&c[w].cost, flight, 0, 0));
			}
			g->least_time[x] = time;
			g->least_bytes[x] = bytes;
		}
	}
}

stage_program *stage_program_new(arena *a, const stage_problem *p)
{
	stage_program *g = ARENA_NEW(a, stage_program);
	*g = dimensions(p);
	size_t all = interval_at(0, g->n + 1);
	find_sizes(a, g);
	g->choices = ARENA_ARRAY(a, choice, all * (size_t)p->nways);
	g->least_time = ARENA_ARRAY(a, double, all);
	g->least_bytes = ARENA_ARRAY(a, double, all);
	g->value = ARENA_ARRAY(a, double, states(g));
	g->by = ARENA_ARRAY(a, step, states(g));
	g->rest = ARENA_ARRAY(a, double, ((size_t)g->n + 1) *
			      ((size_t)g->units + 1));
	g->alive = ARENA_ARRAY(a, int, g->units + 1);
	fill_tables(g);
	return g;
}

int64_t stage_program_work(const stage_program *g)
{
	return ((int64_t)g->top + 1) * g->n * g->n / 2 * g->nsizes *
		(1 + g->units / 8);
}

stage_values stage_program_values(arena *a, const stage_program *g)
{
	size_t n = interval_at(0, g->n + 1) * (size_t)g->p.nways;
	double *times = ARENA_ARRAY(a, double, n);
	double *syncs = ARENA_ARRAY(a, double, n);
	for (size_t i = 0; i < n; i++) {
		times[i] = g->choices[i].cost.time;
		syncs[i] = g->choices[i].cost.sync;
	}
	return (stage_values){ n, times, syncs };
}

/* ---- choices ------------------------------------------------------------- */

typedef struct place {
	size_t x;	/* the interval */
	int flight;	/* micro-batches */
	double waiting; /* bytes of skips per sample */
} place;

static double bytes_of(const stage_program *g, const place *at, const choice *c)
{
	double samples = g->p.samples / g->p.ways[c->way].replicas;
	return stage_bytes(&c->cost, at->flight, at->waiting, samples);
}

/* The fastest way of size z within limits; NULL if there is none. */
static const choice *fastest(const stage_program *g, const place *at, int z,
			     const stage_limits *max)
{
	const choice *c = &g->choices[at->x * (size_t)g->p.nways];
	for (int k = g->first[z]; k < g->first[z + 1]; k++) {
		if (c[k].cost.time > max->time)
			return NULL;
		if (c[k].cost.sync <= max->sync &&
		    bytes_of(g, at, &c[k]) <= max->memory)
			return &c[k];
	}
	return NULL;
}

/* The way of size z with the fewest bytes; NULL if these exceed the limit. */
static const choice *smallest(const stage_program *g, const place *at, int z,
			      const stage_limits *max)
{
	const choice *c = &g->choices[at->x * (size_t)g->p.nways];
	const choice *best = NULL;
	double least = INFINITY;
	for (int k = g->first[z]; k < g->first[z + 1]; k++) {
		double bytes = bytes_of(g, at, &c[k]);
		if (bytes < least) {
			least = bytes;
			best = &c[k];
		}
	}
	return least <= max->memory ? best : NULL;
}

/* ---- lower bounds of the layers before ----------------------------------- */

static double *rest_at(const stage_program *g, int i, int left)
{
	return &g->rest[(size_t)i * ((size_t)g->units + 1) +
			(size_t)left];
}

static void extend_rest(stage_program *g, int i, int j, bool longest,
			const stage_limits *max)
{
	place at = { interval_at(i, j), stage_in_flight_of(&g->p, 0), 0 };
	for (int z = 0; z < g->nsizes; z++) {
		const choice *c = fastest(g, &at, z, max);
		if (!c)
			continue;
		for (int left = g->size[z]; left <= g->units; left++) {
			double v = *rest_at(g, i, left - g->size[z]);
			double *to = rest_at(g, j, left);
			if (!longest)
				v += c->cost.time;
			else if (v < c->cost.time)
				v = c->cost.time;
			if (v < *to)
				*to = v;
		}
	}
}

/* Fills in the least sums of times, or least longest times, of layers [0, j) on
 * devices. */
static double fill_rest(stage_program *g, bool longest,
			const stage_limits *max)
{
	for (int left = 0; left <= g->units; left++)
		*rest_at(g, 0, left) = 0;
	for (int j = 1; j <= g->n; j++) {
		for (int left = 0; left <= g->units; left++)
			*rest_at(g, j, left) = INFINITY;
		for (int i = j - 1; i >= 0; i--) {
			size_t x = interval_at(i, j);
			if (g->least_time[x] > max->time ||
			    g->least_bytes[x] > max->memory)
				break;
			extend_rest(g, i, j, longest, max);
		}
	}
	return *rest_at(g, g->n, g->units);
}

static const stage_limits none = { INFINITY, INFINITY, INFINITY, INFINITY,
				   NULL, NULL };

double stage_program_longest(stage_program *g, double memory)
{
	stage_limits max = none;
	max.memory = memory;
	return fill_rest(g, true, &max);
}

double stage_program_least_sum(stage_program *g, double memory)
{
	stage_limits max = none;
	max.memory = memory;
	return fill_rest(g, false, &max);
}

/* ---- the program --------------------------------------------------------- */

typedef struct run {
	stage_program *g;
	const stage_limits *max;
	bool peak; /* values are greatest bytes, not sums of times */
} run;

static size_t state(const stage_program *g, int level, int first, int used)
{
	return ((size_t)level * ((size_t)g->n + 1) + (size_t)first) *
		((size_t)g->units + 1) + (size_t)used;
}

/* The bytes of layer i's skips that wait at a stage that ends before j. */
static double waiting_of(const run *r, int i, int j, int behind)
{
	const stage_costs *costs = r->g->p.costs;
	const int *most = r->max->most_behind;
	double bytes = 0;
	for (int k = costs->first_skip[i]; k < costs->first_skip[i + 1]; k++) {
		const layer_skip *s = &costs->skips[k];
		int reader = behind - 1;
		if (s->to < j)
			continue;
		if (most && most[s->to] < reader)
			reader = most[s->to];
		bytes += s->act * (stage_in_flight_of(&r->g->p, behind) -
				   stage_in_flight_of(&r->g->p, reader));
	}
	return bytes;
}

static void extend_by(const run *r, int level, int i, int j, int nalive,
		      const choice *c, double bytes)
{
	stage_program *g = r->g;
	int up = level < g->top;
	int size = width(&g->p.ways[c->way]) / g->unit;
	for (int k = 0; k < nalive; k++) {
		int used = g->alive[k] + size;
		if (used > g->units)
			break;
		size_t from = state(g, level, j, g->alive[k]);
		size_t to = state(g, level + up, i, used);
		double v = r->peak ? fmax(g->value[from], bytes) :
			   g->value[from] + c->cost.time;
		double bound = r->peak ? v :
			       v + *rest_at(g, i, g->units - used);
		if (v >= g->value[to] || bound >= r->max->most)
			continue;
		g->value[to] = v;
		g->by[to] = (step){ (int16_t)j, (int16_t)c->way, up };
	}
}

/* Whether layer i may have this many stages after its own. */
static bool allowed(const stage_limits *max, int i, int behind)
{
	return !max->least_behind || (max->least_behind[i] <= behind &&
				      behind <= max->most_behind[i]);
}

/* Places a stage that ends before j and has `level' stages after it. */
static void extend(const run *r, int level, int j)
{
	stage_program *g = r->g;
	place at = { .flight = stage_in_flight_of(&g->p, level) };
	int nalive = 0;
	for (int used = 0; used < g->units; used++)
		if (g->value[state(g, level, j, used)] < INFINITY)
			g->alive[nalive++] = used;
	for (int i = j - 1; i >= 0 && nalive > 0; i--) {
		at.x = interval_at(i, j);
		if (g->least_time[at.x] > r->max->time ||
		    g->least_bytes[at.x] > r->max->memory ||
		    !allowed(r->max, i, level))
			break;
		if (g->counted)
			at.waiting += waiting_of(r, i, j, level);
		for (int z = 0; z < g->nsizes; z++) {
			const choice *c = r->peak ?
				smallest(g, &at, z, r->max) :
				fastest(g, &at, z, r->max);
			if (c)
				extend_by(r, level, i, j, nalive, c,
					  r->peak ? bytes_of(g, &at, c) : 0);
		}
	}
}

/* Follows the stages from the first one on. */
static void trace(const stage_program *g, size_t end, int level, int used,
		  stage_plan *plan)
{
	int first = 0;
	plan->nstages = 0;
	plan->first[0] = 0;
	for (size_t at = end; first < g->n; at = state(g, level, first, used)) {
		step s = g->by[at];
		plan->way[plan->nstages++] = s.way;
		plan->first[plan->nstages] = first = s.end;
		level -= s.up;
		used -= width(&g->p.ways[s.way]) / g->unit;
	}
}

static double best_end(const stage_program *g, stage_plan *plan)
{
	double best = INFINITY;
	size_t end = 0;
	int at_level = 0, at_used = 0;
	for (int level = g->counted ? g->p.least_stages : 0; level <= g->top;
	     level++)
		for (int used = 0; used <= g->units; used++) {
			size_t x = state(g, level, 0, used);
			if (g->value[x] >= best)
				continue;
			best = g->value[x];
			end = x;
			at_level = level;
			at_used = used;
		}
	if (best < INFINITY)
		trace(g, end, at_level, at_used, plan);
	return best;
}

static double run_all(const run *r, stage_plan *plan)
{
	stage_program *g = r->g;
	size_t all = states(g);
	for (size_t i = 0; i < all; i++)
		g->value[i] = INFINITY;
	g->value[state(g, 0, g->n, 0)] = 0;
	for (int level = 0; level <= g->top - g->counted; level++)
		for (int j = g->n; j > 0; j--)
			extend(r, level, j);
	return best_end(g, plan);
}

double stage_program_sum(stage_program *g, const stage_limits *max,
			 stage_plan *plan)
{
	run r = { g, max, false };
	if (fill_rest(g, false, max) >= max->most)
		return INFINITY;
	return run_all(&r, plan);
}

double stage_program_peak(stage_program *g, const stage_limits *max,
			  stage_plan *plan)
{
	run r = { g, max, true };
	return run_all(&r, plan);
}
