/* Memory for time.
 *
 * A price for each byte that is in use when most is makes a plan with less of
 * it.  One price for all gives the corners of the hull of time against memory;
 * between two of them it changes the plan everywhere at once, in all layers of
 * a network.  So there a part of the layers gets the one price, and the others
 * the other one. */
#include "config.h"

#include "compiler/driver/plan_sweep.h"

#include <math.h>
#include <string.h>

#include "compiler/search/levels.h"
#include "plan/peak.h"

enum {
	MOST_PRICES = 12, /* that rise by a factor of four */
	MORE_PRICES = 2,  /* above the least that fits */
	HALVINGS = 6,	  /* between two of them */
	PARTINGS = 6,	  /* of the layers */
	WIDE_PARTS = 4,	  /* of the layers, between two corners */
};

/* A price for what is first in the network, another one for the rest. */
typedef struct tariff {
	double first, rest;
	double part; /* of the layers, that is first */
} tariff;

/* What was in use when most was, in the plans that passed the limit so far: by
 * tensor where it is stored, by node what only it needs. */
typedef struct sweep {
	driver *d;
	const graph *g;
	plan_search how;
	plan_reports *all;
	int npeaks;
	double *tensors, *nodes;
	double *tensor_at, *node_at; /* how deep in the network, 0 to 1 */
} sweep;

/* ---- layers ------------------------------------------------------------ */

/* The place of each node and tensor in the forward pass: that of what it is the
 * gradient of, or updates. */
static void find_depths(sweep *s)
{
	const graph *g = s->g;
	double *t = s->tensor_at, *n = s->node_at, last = 1;
	for (tensor_id i = 0; i < g->ntensors; i++)
		t[i] = -1;
	for (node_id i = 0; i < g->nnodes; i++) {
		const node *x = &g->nodes[i];
		tensor_id of = g->tensors[x->output].gradient_of;
		n[i] = x->forward != NONE ? n[x->forward] : i;
		for (int j = 0; j < x->kernel->ninputs; j++) {
			tensor_id from = g->tensors[x->inputs[j]].gradient_of;
			if (x->forward == NONE && from != NONE && t[from] >= 0)
				n[i] = t[from];
		}
		if (of != NONE && t[of] >= 0)
			n[i] = t[of];
		t[x->output] = n[i];
		for (int j = 0; j < x->kernel->ninputs; j++)
			if (t[x->inputs[j]] < 0)
				t[x->inputs[j]] = n[i];
		if (n[i] > last)
			last = n[i];
	}
	for (tensor_id i = 0; i < g->ntensors; i++)
		t[i] = t[i] < 0 ? 0 : t[i] / last;
	for (node_id i = 0; i < g->nnodes; i++)
		n[i] /= last;
}

/* ---- plans ------------------------------------------------------------- */

static void add_peak(sweep *s, const plan *p)
{
	arena *tmp = arena_new();
	plan_peak peak = plan_find_peak(tmp, p);
	for (int i = 0; i < peak.n; i++) {
		const plan_buffer *b = &p->buffers[peak.uses[i].buffer];
		if (b->region == PLAN_STORED)
			s->tensors[b->tensor]++;
		else
			s->nodes[b->node]++;
	}
	s->npeaks++;
	arena_free(tmp);
}

static bool same_plan(const graph *g, const assignment *x, const assignment *y)
{
	return !memcmp(x->tensor_cuts, y->tensor_cuts,
		       sizeof(cuts) * (size_t)g->ntensors) &&
	       !memcmp(x->node_cuts, y->node_cuts,
		       sizeof(cuts) * (size_t)g->nnodes);
}

/* Adds what a search found; what was found before is not lowered again. */
static bool add_plan(sweep *s, const search_result *found)
{
	plan_report r;
	for (int i = s->all->n; i-- > 0;) {
		r = s->all->at[i];
		if (!r.plan || strcmp(r.search->algorithm, found->algorithm) ||
		    !same_plan(s->g, &r.search->assignment,
			       &found->assignment))
			continue;
		r.search = found;
		vec_push(s->d->arena, s->all, r);
		return true;
	}
	if (!plan_make_of(s->d, s->g, &s->how, found, &r))
		return false;
	vec_push(s->d->arena, s->all, r);
	return true;
}

static double price_at(const tariff *p, double depth)
{
	return depth < p->part ? p->first : p->rest;
}

/* Plans with these prices; *r is what it found. */
static bool try_tariff(sweep *s, const tariff *p, const plan_report **r)
{
	const graph *g = s->g;
	arena *tmp = arena_new();
	double *tensors = ARENA_ARRAY(tmp, double, g->ntensors);
	double *nodes = ARENA_ARRAY(tmp, double, g->nnodes);
	double n = s->npeaks ? s->npeaks : 1;
	for (int t = 0; t < g->ntensors; t++)
		tensors[t] = s->tensors[t] / n * price_at(p, s->tensor_at[t]);
	for (int i = 0; i < g->nnodes; i++)
		nodes[i] = s->nodes[i] / n * price_at(p, s->node_at[i]);
	const timed_prices prices = { tensors, nodes };
	plan_search how = s->how;
	search_request q;
	how.prices = &prices;
	bool ok = plan_request(s->d, g, &how, &q) &&
		  add_plan(s, search_plan_for(s->d->arena, g, &q));
	arena_free(tmp);
	*r = &s->all->at[s->all->n - 1];
	return ok;
}

static bool try_price(sweep *s, double price, const plan_report **r)
{
	const tariff same = { price, price, 0 };
	if (!try_tariff(s, &same, r))
		return false;
	if ((*r)->plan && (s->npeaks == 0 || plan_passes(*r, s->how.memory)))
		add_peak(s, (*r)->plan);
	return true;
}

/* ---- between two prices ------------------------------------------------ */

/* The least price, between two, of those of which a plan fits; it is high. */
static bool halve_prices(sweep *s, double *low, double *high)
{
	const plan_report *r;
	for (int i = 0; i < HALVINGS; i++) {
		double price = *low > 0 ? sqrt(*low * *high) : *high / 4;
		if (!try_price(s, price, &r))
			return false;
		if (plan_passes(r, s->how.memory))
			*low = price;
		else
			*high = price;
	}
	return true;
}

/* As many layers as fit get the low price, beginning with the first or with
 * the last. */
static bool part_layers(sweep *s, double low, double high, bool from_first)
{
	double fits = 0, passes = 1;
	for (int i = 0; i < PARTINGS; i++) {
		double part = (fits + passes) / 2;
		const tariff p = from_first ? (tariff){ low, high, part }
					    : (tariff){ high, low, 1 - part };
		const plan_report *r;
		if (!try_tariff(s, &p, &r))
			return false;
		if (plan_passes(r, s->how.memory))
			passes = part;
		else
			fits = part;
	}
	return true;
}

/* What fits easily has room for copies. */
static bool rise_above(sweep *s, double price)
{
	const plan_report *r;
	for (int i = 0; i < MORE_PRICES; i++)
		if (!try_price(s, price *= 4, &r))
			return false;
	return true;
}

/* All prices for plans within the limit. */
static bool keep_limit(sweep *s, double unit)
{
	double low = 0, high = unit / 64;
	const plan_report *r;
	for (int i = 0; i < MOST_PRICES; i++, low = high, high *= 4) {
		if (!try_price(s, high, &r))
			return false;
		if (!plan_passes(r, s->how.memory))
			return rise_above(s, high) &&
			       halve_prices(s, &low, &high) &&
			       part_layers(s, low, high, true) &&
			       part_layers(s, low, high, false);
	}
	return true;
}

/* Prices up to where little is left to save, and between those that make
 * plans of other sizes. */
static bool try_all(sweep *s, const plan *free, double unit)
{
	int64_t before = free->arena_bytes;
	double low = 0, high = unit / 64;
	for (int i = 0; i < MOST_PRICES; i++, low = high, high *= 4) {
		const plan_report *r;
		if (!try_price(s, high, &r))
			return false;
		int64_t now = r->plan ? r->plan->arena_bytes : before;
		for (int j = 1; j < WIDE_PARTS && now != before; j++) {
			const tariff p = { high, low, (double)j / WIDE_PARTS };
			if (!try_tariff(s, &p, &r))
				return false;
		}
		before = now;
	}
	return true;
}

/* Whether a plan would be another without the limit: it passes it, or would if
 * it kept all copies. */
static bool is_limited(const sweep *s, const plan_report *r)
{
	arena *tmp = arena_new();
	driver one = *s->d;
	const lower_options all = { .algorithm = r->search->algorithm,
				    .memory = PLAN_MAX_BYTES };
	one.arena = tmp;
	const plan *p = s->how.memory > 0
				? plan_lower(&one, s->g, &r->search->assignment,
					     &all, s->how.topology)
				: NULL;
	bool limited = plan_passes(r, s->how.memory) ||
		       (p && p->arena_bytes > s->how.memory);
	arena_free(tmp);
	return limited;
}

/* A byte is worth what it takes in a run without a price, more or less. */
static bool try_prices(sweep *s, bool wide)
{
	const plan_report *r;
	if (!try_price(s, 0, &r))
		return false;
	const plan *free = r->plan;
	if (!free || free->arena_bytes == 0)
		return true;
	double unit = r->seconds / (double)free->arena_bytes;
	if (wide)
		return try_all(s, free, unit);
	return !is_limited(s, r) || keep_limit(s, unit);
}

bool plan_sweep(driver *d, const graph *g, const plan_search *how,
		const char *algorithm, bool wide, plan_reports *all)
{
	arena *tmp = arena_new();
	sweep s = { .d = d, .g = g, .how = *how, .all = all,
		    .tensors = ARENA_ARRAY(tmp, double, g->ntensors),
		    .nodes = ARENA_ARRAY(tmp, double, g->nnodes),
		    .tensor_at = ARENA_ARRAY(tmp, double, g->ntensors),
		    .node_at = ARENA_ARRAY(tmp, double, g->nnodes) };
	search_request q;
	s.how.algorithm = algorithm;
	find_depths(&s);
	bool ok = plan_request(d, g, how, &q);
	if (ok && !strcmp(algorithm, "levels"))
		s.how.tables = level_tables_new(tmp, &q);
	ok = ok && try_prices(&s, wide);
	arena_free(tmp);
	return ok;
}
