/* Plans over replicas, tensors, stages and micro-batches, enumerated; each's
 * stages are split exactly. */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "compiler/placement/capture.h"

static double link_of(const layer_table *t, int span)
{
	return span <= t->node ? t->intra : t->inter;
}

/* ---- one plan ----------------------------------------------------------- */

/* Sums over [i, j). */
typedef struct sums {
	double params, flops, act, rep, ar;
} sums;

static void fill(const layer_table *t, const capture_request *r,
		 const capture_plan *p, const sums *s, int i, int j,
		 intervals *to)
{
	size_t x = interval_at(i, j);
	double u = p->micro_batch, d = p->replicas, n = p->tensor;
	double in = i > 0 ? t->at[i - 1].edge : 0;
	double out = j < t->n ? t->at[j - 1].edge : 0;
	double acts = u * (s->act / n + s->rep);
	double share = r->zero ? d : 1;
	double time = u * (p->recompute ? 4 : 3) * s->flops / (n * t->flops);
	if (p->tensor > 1)
		time += (p->recompute ? 6 : 4) * 2 * (n - 1) / n * u * s->ar /
			link_of(t, p->tensor);
	if (p->stages > 1)
		time += 2 * u * (in + out) /
			link_of(t, 2 * p->replicas * p->tensor);
	to->time[x] = time;
	to->fixed[x] = 2 * s->params / n +
		r->optimizer * s->params / n / share +
		(p->recompute ? acts : 0);
	to->kept[x] = u * in + (p->recompute ? 0 : acts);
	to->sync[x] = 2 * (d - 1) / d * s->params / n /
		link_of(t, p->replicas * p->tensor);
}

/* Sums are taken from behind, so that equal runs of layers have equal bits. */
static intervals *costs_of(arena *a, const layer_table *t,
			   const capture_request *r, const capture_plan *p)
{
	intervals *to = intervals_new(a, t->n, true);
	for (int j = 1; j <= t->n; j++) {
		sums s = { 0 };
		for (int i = j - 1; i >= 0; i--) {
			const layer *l = &t->at[i];
			s.params += l->params;
			s.flops += l->flops;
			s.act += l->act;
			s.rep += l->rep;
			s.ar += l->ar;
			fill(t, r, p, &s, i, j, to);
		}
	}
	intervals_finish(a, to);
	return to;
}

static split_problem problem_of(arena *a, const layer_table *t,
				const capture_request *r,
				const capture_plan *p)
{
	int *in_flight = ARENA_ARRAY(a, int, p->stages);
	for (int s = 0; s < p->stages; s++)
		in_flight[s] = schedule_in_flight(r->schedule, s, p->stages, 1,
						  p->micro_batches);
	return (split_problem){ costs_of(a, t, r, p), p->stages, in_flight,
				p->micro_batches, r->cap };
}

/* The plan with its split and its stages' figures, in a. */
static capture_plan keep(arena *a, const capture_plan *p,
			 const split_problem *q, const split *s)
{
	capture_plan k = *p;
	k.split = *s;
	k.split.first = ARENA_COPY(a, s->first, p->stages + 1);
	k.peak = ARENA_ARRAY(a, double, p->stages);
	k.seconds = ARENA_ARRAY(a, double, p->stages);
	for (int i = 0; i < p->stages; i++) {
		size_t x = interval_at(s->first[i], s->first[i + 1]);
		k.peak[i] = split_memory(q, i, x);
		k.seconds[i] = q->of->time[x];
	}
	return k;
}

/* Micro-batches in flight have the samples of a batch at most. */
double capture_most_bytes(const layer_table *t, const capture_request *r)
{
	double params = 0, acts = 0, edges = 0;
	for (int i = 0; i < t->n; i++) {
		params += t->at[i].params;
		acts += t->at[i].act + t->at[i].rep;
		edges += t->at[i].edge;
	}
	return (2 + r->optimizer) * params + t->batch * (2 * acts + edges);
}

/* ---- all plans ---------------------------------------------------------- */

/* Whether replicas and tensors divide the devices and the batch into stages,
 * whose number is filled in. */
static bool divides(const layer_table *t, capture_plan *p)
{
	if (p->devices % (p->tensor * p->replicas) || t->batch % p->replicas)
		return false;
	p->stages = p->devices / p->tensor / p->replicas;
	return p->stages <= t->n;
}

typedef VEC(capture_plan) plans;

/* Adds a plan for each size of micro-batches. */
static void add_plans(arena *a, const layer_table *t, const capture_request *r,
		      capture_plan p, plans *all)
{
	int samples = t->batch / p.replicas;
	for (p.micro_batch = 1; p.micro_batch <= samples; p.micro_batch++) {
		p.micro_batches = samples / p.micro_batch;
		if (samples % p.micro_batch == 0 &&
		    (r->micro_batches == 0 ||
		     r->micro_batches == p.micro_batches))
			vec_push(a, all, p);
	}
}

static plans all_plans(arena *a, const layer_table *t,
		       const capture_request *r)
{
	plans all = { 0 };
	capture_plan p = { 0 };
	int first = r->objective == CAPTURE_COST ? 1 : r->devices;
	for (p.devices = first; p.devices <= r->devices; p.devices++)
		for (p.tensor = 1; p.tensor <= 8 && p.tensor <= t->node;
		     p.tensor *= 2)
			for (p.replicas = 1; p.replicas <= p.devices;
			     p.replicas++)
				if (divides(t, &p))
					add_plans(a, t, r, p, &all);
	return all;
}

/* Whether a is better than b by the objective. */
static bool better(const capture_request *r, const capture_plan *a,
		   const capture_plan *b)
{
	double x = a->split.step, y = b->split.step;
	double p = a->split.peak, q = b->split.peak;
	if (r->objective == CAPTURE_PEAK)
		return p < q || (p == q && x < y);
	if (r->objective == CAPTURE_COST) {
		x *= a->devices;
		y *= b->devices;
	}
	return x < y || (x == y && p < q);
}

/* The best split of a plan that can be better than the best so far. */
static bool try_plan(arena *a, const layer_table *t, const capture_request *r,
		     capture_plan *p, const capture_plan *best)
{
	arena *own = arena_new();
	split_problem q = problem_of(own, t, r, p);
	double most = INFINITY;
	split s;
	bool found;
	if (best && r->objective == CAPTURE_PEAK)
		q.cap = fmin(q.cap, best->split.peak);
	else if (best)
		most = best->split.step *
			(r->objective == CAPTURE_COST ?
			 (double)best->devices / p->devices * (1 + 1e-12) : 1);
	found = r->objective == CAPTURE_PEAK ?
		split_least_peak(own, &q, &s) :
		split_least_step(own, &q, most, &s);
	if (found)
		*p = keep(a, p, &q, &s);
	arena_free(own);
	return found;
}

bool capture_best(arena *a, const layer_table *t, const capture_request *r,
		  capture_plan *best)
{
	arena *own = arena_new();
	plans all = all_plans(own, t, r);
	bool any = false;
	for (int i = 0; i < 2 * all.n; i++) {
		capture_plan p = all.at[i / 2];
		p.recompute = i % 2;
		if (!(p.recompute ? r->recompute : r->plain) ||
		    !try_plan(a, t, r, &p, any ? best : NULL))
			continue;
		if (!any || better(r, &p, best))
			*best = p;
		any = true;
	}
	arena_free(own);
	return any;
}

/* ---- the frontier ------------------------------------------------------- */

static int by_peak(const void *x, const void *y)
{
	const split *a = &((const capture_plan *)x)->split;
	const split *b = &((const capture_plan *)y)->split;
	if (a->peak != b->peak)
		return a->peak < b->peak ? -1 : 1;
	return (a->step > b->step) - (a->step < b->step);
}

capture_plans capture_frontier(arena *a, const layer_table *t,
			       const capture_request *r)
{
	arena *own = arena_new();
	plans all = all_plans(own, t, r), found = { 0 };
	capture_plans out = { 0 };
	for (int i = 0; i < 2 * all.n; i++) {
		capture_plan p = all.at[i / 2];
		p.recompute = i % 2;
		if (!(p.recompute ? r->recompute : r->plain))
			continue;
		arena *work = arena_new();
		split_problem q = problem_of(work, t, r, &p);
		split_list f = split_frontier(work, &q, true);
		for (int k = 0; k < f.n; k++)
			vec_push(own, &found, keep(a, &p, &q, &f.at[k]));
		arena_free(work);
	}
	if (found.n > 1)
		qsort(found.at, (size_t)found.n, sizeof(*found.at), by_peak);
	for (int i = 0; i < found.n; i++)
		if (out.n == 0 || found.at[i].split.step <
		    out.at[out.n - 1].split.step)
			vec_push(a, &out, found.at[i]);
	arena_free(own);
	return out;
}
