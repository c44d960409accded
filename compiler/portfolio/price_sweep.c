/* Plans that need less memory and more time.
 *
 * A price for each byte in use at the peak leads to a plan with a lower peak.
 * A single price for all layers gives the corners of the convex hull of time
 * against memory; between two corners the plan changes in all layers of a
 * network at once.  So between two corners some of the layers get one price and
 * the others the other.  More plans are searched where neighbours differ most
 * in memory.  Their number is fixed and independent of the limit. */
#include "config.h"

#include "compiler/portfolio/price_sweep.h"

#include <math.h>
#include <string.h>

#include "compiler/cost/time_model.h"
#include "compiler/portfolio/one_planner.h"
#include "compiler/portfolio/plan_origin.h"
#include "plan/peak.h"

enum {
	NPRICES = 12,  /* each four times the one before */
	HALVINGS = 2,  /* between two of these, before layers are divided */
	NBETWEEN = 24, /* plans between prices */
};

/* Plans whose memory differs by a smaller fraction are close enough. */
static const double near = 0.02;

/* A price for the first part of the network, and another one for the rest. */
typedef struct tariff {
	double first, rest;
	double part; /* fraction of layers that comes first */
} tariff;

/* Bytes in use at the peaks of the plans for one price so far: by tensor where
 * it is stored, by node the bytes that only this node needs. */
typedef struct sweep {
	plan_request how;
	plan_candidates *all;
	int npeaks;
	double *tensors, *nodes;
	double *tensor_at, *node_at; /* depth in the network, from 0 to 1 */
	int first; /* first candidate of this sweep */
} sweep;

/* ---- layers ------------------------------------------------------------ */

/* Finds the place of each node and tensor in the forward pass.  A gradient or
 * update has the place of what it belongs to. */
static void find_depths(sweep *s)
{
	const graph *g = s->how.graph;
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

static void add_peak(void *to, const plan *p)
{
	sweep *s = to;
	arena *tmp = arena_new();
	plan_peak peak = plan_find_peak(tmp, p);
	plan_origin from = plan_origin_of(tmp, p, s->how.graph);
	for (int i = 0; i < peak.n; i++) {
		const plan_buffer *b = &p->buffers[peak.uses[i].buffer];
		if (b->region != LAYOUT_STORED && from.nodes[b->node] != NONE)
			s->nodes[from.nodes[b->node]]++;
		else if (b->region == LAYOUT_STORED &&
			 from.tensors[b->tensor] != NONE)
			s->tensors[from.tensors[b->tensor]]++;
	}
	s->npeaks++;
	arena_free(tmp);
}

/* Adds the result of a search unless it was found before.  *p: its program
 * without a limit. */
static bool add_plan(sweep *s, const search_result *found, bool peak,
		     plan_program *p)
{
	plan_candidate c = { .search = found };
	for (int i = s->first; i < s->all->n; i++) {
		const plan_candidate *old = &s->all->at[i];
		if (!plan_is_same(s->how.graph, &old->search->assignment,
				  &found->assignment))
			continue;
		*p = old->programs.at[0];
		return true;
	}
	*p = (plan_program){ .in_use = -1 };
	const program_bar none = { INFINITY, INT64_MAX };
	program_maker m = { .how = &s->how, .as = &found->assignment };
	bool ok = program_measure(&m, p, &none, peak ? add_peak : NULL, s);
	program_maker_free(&m);
	if (!ok)
		return false;
	vec_push(s->how.arena, &c.programs, *p);
	vec_push(s->how.arena, s->all, c);
	return true;
}

static double price_at(const tariff *p, double depth)
{
	return depth < p->part ? p->first : p->rest;
}

/* Makes plans with these prices.  *p: the program without a limit.  peak: its
 * use of memory then gets a price. */
static bool try_tariff(sweep *s, const tariff *t, bool peak, plan_program *p)
{
	const graph *g = s->how.graph;
	arena *tmp = arena_new();
	double *tensors = ARENA_ARRAY(tmp, double, g->ntensors);
	double *nodes = ARENA_ARRAY(tmp, double, g->nnodes);
	double n = s->npeaks ? s->npeaks : 1;
	for (int i = 0; i < g->ntensors; i++)
		tensors[i] = s->tensors[i] / n * price_at(t, s->tensor_at[i]);
	for (int i = 0; i < g->nnodes; i++)
		nodes[i] = s->nodes[i] / n * price_at(t, s->node_at[i]);
	const memory_prices prices = { tensors, nodes };
	plan_request how = s->how;
	search_request q;
	how.prices = &prices;
	plan_observe(&how, PHASE_SEARCH, how.algorithm, s->all->n, 0);
	bool ok = plan_search_request(&how, &q) &&
		  add_plan(s, search_plan_for(s->how.arena, g, &q), peak, p);
	arena_free(tmp);
	return ok;
}

/* ---- between two prices ------------------------------------------------ */

/* The interval between two tariffs, and the memory of their plans. */
typedef struct gap {
	/* prices: the plans with less and with more memory have .. */
	double low, high;
	/* .. the high and the low price or, if layers are divided, the low
	 * price for these fractions of layers */
	double from, to;
	/* layers are divided; the first ones have the low price */
	bool parted, first;
	int halvings;
	int64_t less, more;
} gap;

typedef VEC(gap) gaps;

static double width(const gap *x)
{
	return x->less > 0 ? log((double)x->more / (double)x->less) : 0;
}

/* The widest gap; NULL if all plans are close enough. */
static gap *widest(const gaps *all)
{
	gap *most = NULL;
	for (int i = 0; i < all->n; i++)
		if (width(&all->at[i]) > (most ? width(most) : near))
			most = &all->at[i];
	return most;
}

static tariff between(const gap *x)
{
	double part = (x->from + x->to) / 2;
	double price = x->low > 0 ? sqrt(x->low * x->high) : x->high / 4;
	if (!x->parted)
		return (tariff){ price, price, 0 };
	return x->first ? (tariff){ x->low, x->high, part }
			: (tariff){ x->high, x->low, 1 - part };
}

/* Divides a gap in two.  Returns the second, new one. */
static gap divide(gap *x, const tariff *t, int64_t held)
{
	gap more = *x;
	x->more = more.less = held;
	if (x->parted) {
		x->to = more.from = (x->from + x->to) / 2;
	} else {
		x->low = more.high = t->first;
		x->halvings = ++more.halvings;
	}
	return more;
}

/* Divides layers in two ways: the first layers, or the last ones, get the low
 * price. */
static void part_layers(sweep *s, gaps *all, gap *x)
{
	gap last = *x;
	last.parted = x->parted = x->first = true;
	last.first = false;
	last.from = x->from = 0;
	last.to = x->to = 1;
	vec_push(s->how.arena, all, last);
}

static bool fill_gaps(sweep *s, gaps *all)
{
	for (int i = 0; i < NBETWEEN; i++) {
		plan_program p;
		gap *x = widest(all);
		if (!x)
			return true;
		if (!x->parted && x->halvings == HALVINGS) {
			part_layers(s, all, x);
			x = widest(all);
		}
		const tariff t = between(x);
		if (!try_tariff(s, &t, false, &p))
			return false;
		gap more = divide(x, &t, p.held);
		vec_push(s->how.arena, all, more);
	}
	return true;
}

/* ---- all of them ------------------------------------------------------- */

/* Whether plans with prices may take less time than what is to be beaten, given
 * the plan without prices.  Prices exchange time for memory.  As they go by the
 * costs of single operators, some programs become faster, but rarely by more
 * than this. */
static bool may_beat(const sweep *s, const plan_program *without)
{
	static const double rarely = 0.8;
	return s->how.beat <= 0 || rarely * without->seconds < s->how.beat;
}

/* Tries prices up to where little memory is left to save.  The first price
 * makes a byte worth about the time per byte of a run without prices. */
static bool try_prices(sweep *s)
{
	const tariff none = { 0, 0, 0 };
	gaps all = { 0 };
	plan_program p;
	if (!try_tariff(s, &none, true, &p))
		return false;
	if (p.held == 0 || !may_beat(s, &p))
		return true;
	double price = p.seconds / (double)p.held / 64, before = 0;
	for (int i = 0; i < NPRICES; i++, before = price, price *= 4) {
		const tariff one = { price, price, 0 };
		gap x = { .low = before, .high = price, .more = p.held };
		if (!try_tariff(s, &one, true, &p))
			return false;
		x.less = p.held;
		vec_push(s->how.arena, &all, x);
	}
	return fill_gaps(s, &all);
}

bool plan_sweep(const plan_request *how, const char *algorithm,
		plan_candidates *all)
{
	arena *tmp = arena_new();
	const graph *g = how->graph;
	sweep s = { .how = *how, .all = all, .first = all->n,
		    .tensors = ARENA_ARRAY(tmp, double, g->ntensors),
		    .nodes = ARENA_ARRAY(tmp, double, g->nnodes),
		    .tensor_at = ARENA_ARRAY(tmp, double, g->ntensors),
		    .node_at = ARENA_ARRAY(tmp, double, g->nnodes) };
	s.how.algorithm = algorithm;
	find_depths(&s);
	bool ok = try_prices(&s);
	arena_free(tmp);
	return ok;
}
