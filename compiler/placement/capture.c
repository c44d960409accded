/* Enumerates even plans, and splits the stages of each exactly. */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "compiler/placement/capture_more.h"
#include "compiler/placement/split.h"

/* An upper bound: micro-batches in flight have at most the samples of a batch,
 * and so do copies of skips at both ends. */
double capture_most_bytes(const layer_table *t, const capture_request *r)
{
	double params = 0, acts = 0, edges = 0;
	for (int i = 0; i < t->n; i++) {
		params += t->at[i].params;
		acts += t->at[i].act + t->at[i].rep;
		edges += t->at[i].edge;
	}
	for (int k = 0; k < t->nskips; k++)
		edges += 2 * t->skips[k].act;
	return (2 + r->optimizer) * params + t->batch * (2 * acts + edges);
}

bool capture_better(const capture_request *r, const capture_plan *a,
		    const capture_plan *b)
{
	double x = a->step, y = b->step;
	if (r->objective == CAPTURE_PEAK)
		return a->peak < b->peak || (a->peak == b->peak && x < y);
	if (r->objective == CAPTURE_COST) {
		x *= a->devices;
		y *= b->devices;
	}
	return x < y || (x == y && a->peak < b->peak);
}

/* ---- all even plans ------------------------------------------------------ */

typedef struct even_plan {
	stage_way way;
	int devices, stages;
	/* of one micro-batch; in all replicas together */
	int samples, micro_batches;
} even_plan;

typedef VEC(even_plan) even_plans;

/* Adds the plans for each size of micro-batches, with and without
 * recomputation. */
static void add_plans(capture_search *c, even_plan p, even_plans *all)
{
	const capture_request *r = c->r;
	int each = c->t->batch / p.way.replicas;
	for (int u = 1; u <= each; u++) {
		p.samples = u * p.way.replicas;
		p.micro_batches = each / u;
		if (each % u != 0 || (r->micro_batches != 0 &&
				      r->micro_batches != p.micro_batches))
			continue;
		for (int again = 0; again < 2; again++) {
			p.way.recompute = again;
			if (again ? r->recompute : r->plain)
				vec_push(c->own, all, p);
		}
	}
}

/* Adds the plans whose replicas and tensor degrees divide the devices and the
 * batch. */
static void add_divided(capture_search *c, even_plan p, even_plans *all)
{
	int width = p.way.tensor * p.way.replicas;
	p.stages = p.devices / width;
	if (p.devices % width == 0 && c->t->batch % p.way.replicas == 0 &&
	    p.stages <= c->t->n)
		add_plans(c, p, all);
}

static even_plans all_plans(capture_search *c)
{
	even_plans all = { 0 };
	even_plan p = { 0 };
	int first = c->r->objective == CAPTURE_COST ? 1 : c->r->devices;
	for (p.devices = first; p.devices <= c->r->devices; p.devices++)
		for (int t = 1; t <= 8 && t <= c->t->node; t *= 2)
			for (int d = 1; d <= p.devices; d++) {
				p.way = (stage_way){ d, t, false };
				add_divided(c, p, &all);
			}
	return all;
}

/* ---- one even plan ------------------------------------------------------- */

static stage_problem problem_of(const capture_search *c, const even_plan *p)
{
	return (stage_problem){
		.costs = &c->costs, .ways = &p->way, .nways = 1,
		.schedule = c->r->schedule, .micro_batches = p->micro_batches,
		.samples = p->samples, .devices = p->devices,
		.least_stages = p->stages, .most_stages = p->stages,
		.cap = c->r->cap };
}

static split_problem split_problem_of(arena *a, const capture_search *c,
				      const even_plan *p)
{
	intervals *to = intervals_new(a, c->t->n, true);
	int *in_flight = ARENA_ARRAY(a, int, p->stages);
	for (size_t x = 0; x < interval_at(0, c->t->n + 1); x++) {
		stage_cost s = stage_cost_of(&c->costs, x, &p->way, p->samples,
					     p->devices);
		to->time[x] = s.time;
		to->fixed[x] = s.fixed;
		to->kept[x] = s.kept;
		to->sync[x] = s.sync;
	}
	intervals_finish(a, to);
	for (int s = 0; s < p->stages; s++)
		in_flight[s] = schedule_in_flight(c->r->schedule, s, p->stages,
						  1, p->micro_batches);
	return (split_problem){ to, p->stages, in_flight, p->micro_batches,
				c->r->cap };
}

capture_plan capture_keep(const capture_search *c, const stage_problem *p,
			  const stage_found *f)
{
	capture_plan k = { .devices = f->devices, .nstages = f->plan.nstages,
			   .samples = p->samples,
			   .micro_batches = p->micro_batches, .peak = f->peak,
			   .bottleneck = f->bottleneck, .step = f->step };
	k.at = ARENA_ARRAY(c->a, capture_stage, k.nstages);
	for (int s = 0; s < k.nstages; s++)
		k.at[s] = (capture_stage){
			f->plan.first[s + 1] - f->plan.first[s],
			p->ways[f->plan.way[s]], f->bytes[s], f->seconds[s] };
	return k;
}

/* The plan with its stages split at `first'. */
static capture_plan keep_split(const capture_search *c, const even_plan *e,
			       int *first)
{
	arena *own = arena_new();
	stage_problem p = problem_of(c, e);
	stage_found f = { .plan = { e->stages, first,
				    ARENA_ARRAY(own, int, e->stages) } };
	stage_measure(own, &p, &f);
	capture_plan k = capture_keep(c, &p, &f);
	arena_free(own);
	return k;
}

/* The step below which a plan is better than the best. */
static double limit_of(const capture_search *c, int devices)
{
	const capture_plan *best = &c->best;
	if (!c->found)
		return INFINITY;
	return best->step * (c->r->objective == CAPTURE_COST ?
			     (double)best->devices / devices * (1 + 1e-12) : 1);
}

static bool try_split(capture_search *c, const even_plan *e, capture_plan *to)
{
	arena *own = arena_new();
	split_problem q = split_problem_of(own, c, e);
	split s;
	bool peak = c->r->objective == CAPTURE_PEAK;
	if (peak && c->found)
		q.cap = fmin(q.cap, c->best.peak);
	bool found = peak ? split_least_peak(own, &q, &s) :
		split_least_step(own, &q, limit_of(c, e->devices), &s);
	if (found)
		*to = keep_split(c, e, s.first);
	arena_free(own);
	return found;
}

/* Like try_split(), for a table with skips. */
static bool try_skips(capture_search *c, const even_plan *e, capture_plan *to)
{
	arena *own = arena_new();
	stage_problem p = problem_of(c, e);
	stage_found f;
	bool found;
	if (c->r->objective == CAPTURE_PEAK) {
		double below = c->found ? nextafter(c->best.peak, INFINITY) :
			INFINITY;
		found = stage_search_peak(own, &p, below, &f, &c->work);
		p.cap = found ? f.peak : 0;
		if (found)
			stage_search_step(own, &p, f.step, &f, &c->work);
	} else {
		found = stage_search_step(own, &p, limit_of(c, e->devices), &f,
					  &c->work);
	}
	if (found)
		*to = capture_keep(c, &p, &f);
	arena_free(own);
	return found;
}

void capture_take(capture_search *c, const capture_plan *p)
{
	if (!c->found || capture_better(c->r, p, &c->best))
		c->best = *p;
	c->found = true;
}

/* ---- the best plan ------------------------------------------------------- */

static capture_search search_new(arena *a, const layer_table *t,
				 const capture_request *r)
{
	arena *own = arena_new();
	return (capture_search){ .a = a, .own = own, .t = t, .r = r,
				 .costs = stage_costs_new(own, t, r->optimizer,
							  r->zero),
				 .work = STAGE_MAX_WORK };
}

static void try_even(capture_search *c)
{
	even_plans all = all_plans(c);
	for (int i = 0; i < all.n; i++) {
		capture_plan p;
		if (c->t->nskips > 0 ? try_skips(c, &all.at[i], &p) :
				       try_split(c, &all.at[i], &p))
			capture_take(c, &p);
	}
}

bool capture_best(arena *a, const layer_table *t, const capture_request *r,
		  capture_plan *best)
{
	capture_search c = search_new(a, t, r);
	try_even(&c);
	if (r->uneven)
		capture_try_uneven(&c);
	c.best.proven = c.work >= 0;
	*best = c.best;
	arena_free(c.own);
	return c.found;
}

bool capture_fits(const layer_table *t, const capture_request *r)
{
	capture_search c = search_new(NULL, t, r);
	even_plans all = t->nskips > 0 ? all_plans(&c) : (even_plans){ 0 };
	bool fits = !r->uneven || capture_uneven_fits(&c);
	for (int i = 0; i < all.n && fits; i++) {
		stage_problem p = problem_of(&c, &all.at[i]);
		fits = stage_program_fits(&p);
	}
	arena_free(c.own);
	return fits;
}

/* ---- the frontier ------------------------------------------------------- */

static void add_splits(capture_search *c, const even_plan *e,
		       capture_plans *all)
{
	arena *own = arena_new();
	split_problem q = split_problem_of(own, c, e);
	split_list f = split_frontier(own, &q, true);
	for (int k = 0; k < f.n; k++)
		vec_push(c->own, all, keep_split(c, e, f.at[k].first));
	arena_free(own);
}

static void add_steps(capture_search *c, const even_plan *e,
		      capture_plans *all)
{
	arena *own = arena_new();
	stage_problem p = problem_of(c, e);
	stage_found f;
	while (stage_search_step(own, &p, INFINITY, &f, &c->work)) {
		vec_push(c->own, all, capture_keep(c, &p, &f));
		p.cap = nextafter(f.peak, -INFINITY);
	}
	arena_free(own);
}

static int by_peak(const void *x, const void *y)
{
	const capture_plan *a = x, *b = y;
	if (a->peak != b->peak)
		return a->peak < b->peak ? -1 : 1;
	return (a->step > b->step) - (a->step < b->step);
}

/* The plans than which no other one is better in both measures.  Steps that
 * differ only by rounding count as equal. */
static capture_plans pareto(const capture_search *c, capture_plans all)
{
	capture_plans out = { 0 };
	if (all.n > 1)
		qsort(all.at, (size_t)all.n, sizeof(*all.at), by_peak);
	for (int i = 0; i < all.n; i++) {
		all.at[i].proven = c->work >= 0;
		if (out.n == 0 || all.at[i].step <
		    out.at[out.n - 1].step * (1 - 1e-12))
			vec_push(c->a, &out, all.at[i]);
	}
	return out;
}

capture_plans capture_frontier(arena *a, const layer_table *t,
			       const capture_request *r)
{
	capture_search c = search_new(a, t, r);
	even_plans plans = all_plans(&c);
	capture_plans all = { 0 };
	for (int i = 0; i < plans.n; i++)
		if (t->nskips > 0)
			add_steps(&c, &plans.at[i], &all);
		else
			add_splits(&c, &plans.at[i], &all);
	if (r->uneven) {
		all = pareto(&c, all);
		capture_add_uneven(&c, &all);
	}
	all = pareto(&c, all);
	arena_free(c.own);
	return all;
}
