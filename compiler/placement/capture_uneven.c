/* Plans whose stages differ in replicas, tensor degree and recomputation.  All
 * of these are tried for each number of micro-batches. */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "compiler/placement/capture_more.h"

/* ---- problems ------------------------------------------------------------ */

static int by_width(const void *x, const void *y)
{
	const stage_way *a = x, *b = y;
	int m = a->replicas * a->tensor, n = b->replicas * b->tensor;
	if (m != n)
		return m < n ? -1 : 1;
	if (a->tensor != b->tensor)
		return a->tensor < b->tensor ? -1 : 1;
	return a->recompute - b->recompute;
}

typedef VEC(stage_way) ways;

static ways all_ways(arena *a, const capture_search *c, int samples,
		     int devices)
{
	ways all = { 0 };
	for (int t = 1; t <= 8 && t <= c->t->node; t *= 2)
		for (int d = 1; d * t <= devices; d++) {
			if (samples % d != 0)
				continue;
			if (c->r->plain)
				vec_push(a, &all, ((stage_way){ d, t, false }));
			if (c->r->recompute)
				vec_push(a, &all, ((stage_way){ d, t, true }));
		}
	if (all.n > 1)
		qsort(all.at, (size_t)all.n, sizeof(*all.at), by_width);
	return all;
}

typedef VEC(stage_problem) problems;

static void add_problems(capture_search *c, int devices, problems *to)
{
	const capture_request *r = c->r;
	for (int m = 1; m <= c->t->batch; m++) {
		int samples = c->t->batch / m;
		if (c->t->batch % m != 0 ||
		    (r->micro_batches != 0 && r->micro_batches != m))
			continue;
		ways w = all_ways(c->own, c, samples, devices);
		stage_problem p = {
			.costs = &c->costs, .ways = w.at, .nways = w.n,
			.schedule = r->schedule, .micro_batches = m,
			.samples = samples, .devices = devices,
			.least_stages = 1, .most_stages = c->t->n,
			.cap = r->cap };
		vec_push(c->own, to, p);
	}
}

/* The links of ties and skips depend on whether the plan's devices fill more
 * than a node.  So plans within a node are a separate problem. */
static problems all_problems(capture_search *c)
{
	problems all = { 0 };
	int most = c->r->devices, node = c->t->node;
	if (c->r->objective == CAPTURE_COST)
		for (int d = 1; d < most; d++)
			add_problems(c, d, &all);
	else if (node < most && c->t->nties + c->t->nskips > 0)
		add_problems(c, node, &all);
	add_problems(c, most, &all);
	return all;
}

bool capture_uneven_fits(capture_search *c)
{
	problems all = all_problems(c);
	for (int i = 0; i < all.n; i++)
		if (!stage_program_fits(&all.at[i]))
			return false;
	return true;
}

/* ---- searching ----------------------------------------------------------- */

typedef struct uneven {
	capture_search *c;
	problems all;
	/* by problem: a lower bound of all steps.  Caps only fall, so it
	 * remains valid. */
	double *floor;
} uneven;

static uneven uneven_new(capture_search *c)
{
	uneven u = { c, all_problems(c), NULL };
	u.floor = ARENA_ARRAY(c->own, double, u.all.n);
	return u;
}

/* Takes the plan of a problem with the least peak, if that is below the best
 * one's. */
static void find_peak(const uneven *u, int i)
{
	capture_search *c = u->c;
	arena *own = arena_new();
	const stage_problem *p = &u->all.at[i];
	double below = c->found ? c->best.peak : INFINITY;
	stage_found f;
	if (stage_search_peak(own, p, below, &f, &c->work)) {
		c->best = capture_keep(c, p, &f);
		c->found = true;
	}
	arena_free(own);
}

/* Takes the plan of a problem with the least step, if it is within the cap and
 * below `below'. */
static bool find_step(const uneven *u, int i, double cap, double below)
{
	capture_search *c = u->c;
	stage_problem p = u->all.at[i];
	stage_found f;
	if (u->floor[i] >= below)
		return false;
	arena *own = arena_new();
	p.cap = cap;
	bool found = stage_search_step(own, &p, below, &f, &c->work);
	u->floor[i] = found ? f.step * (1 - 2e-12) : below;
	if (found) {
		c->best = capture_keep(c, &p, &f);
		c->found = true;
	}
	arena_free(own);
	return found;
}

/* The step below which a plan on a problem's devices is better than plan p. */
static double below_of(const uneven *u, const capture_plan *p, int i)
{
	if (u->c->r->objective != CAPTURE_COST)
		return p->step;
	return p->step * p->devices / u->all.at[i].devices;
}

static void lower_step(const uneven *u, double cap)
{
	capture_search *c = u->c;
	for (int i = 0; i < u->all.n; i++)
		find_step(u, i, cap, c->found ? below_of(u, &c->best, i) :
						INFINITY);
}

/* Of the plans whose value equals the best, except for rounding, takes the one
 * with the least peak. */
static void lower_peak(const uneven *u)
{
	capture_plan first = u->c->best;
	for (int i = 0; u->c->found && i < u->all.n; i++) {
		double below = fmax(below_of(u, &first, i) * (1 + 3e-12),
				    DBL_MIN), cap;
		do
			cap = nextafter(u->c->best.peak, -INFINITY);
		while (find_step(u, i, cap, below));
	}
}

void capture_try_uneven(capture_search *c)
{
	uneven u = uneven_new(c);
	if (c->r->objective != CAPTURE_PEAK) {
		lower_step(&u, c->r->cap);
		lower_peak(&u);
		return;
	}
	for (int i = 0; i < u.all.n; i++)
		find_peak(&u, i);
	if (c->found)
		lower_step(&u, c->best.peak);
}

/* ---- the frontier -------------------------------------------------------- */

/* Begins with the fastest known plan within the cap. */
static void begin_with(capture_search *c, const capture_plans *known,
		       double cap)
{
	c->found = false;
	for (int i = 0; i < known->n && known->at[i].peak <= cap; i++)
		capture_take(c, &known->at[i]);
}

void capture_add_uneven(capture_search *c, capture_plans *all)
{
	capture_request q = *c->r;
	const capture_request *asked = c->r;
	capture_plans known = *all;
	q.objective = CAPTURE_TIME;
	c->r = &q;
	uneven u = uneven_new(c);
	double cap = q.cap;
	for (;;) {
		begin_with(c, &known, cap);
		lower_step(&u, cap);
		if (!c->found)
			break;
		lower_peak(&u);
		vec_push(c->own, all, c->best);
		cap = nextafter(c->best.peak, -INFINITY);
	}
	c->r = asked;
}
