/* Piper's plans: the least time per sample, by a dynamic program over pairs of
 * ideals that is solved for one time limit after another. */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "compiler/placement/piper.h"

/* A possible stage: the layers of ideal `of' without those of `behind'. */
typedef struct pair {
	int of, behind;
	piper_costs costs;
} pair;

/* The choice that led to a state. */
typedef struct origin {
	int pair, cost;
} origin;

typedef struct program {
	const degree_table *t;
	const piper_request *r;
	const ideals *sets; /* closed under readers */
	int *order;	    /* of ideals by size */
	pair *pairs;	    /* by `of' in that order */
	int npairs, sum;
	bool relaxed;
	/* The fewest devices for an ideal with a given sum of replicas, at
	 * [ideal][sum]; INT_MAX if it is impossible. */
	int *devices;
	origin *from;
} program;

/* ---- sets ---------------------------------------------------------------- */

/* The precedence in which readers come before what they read. */
static precedence readers_first(arena *a, const degree_table *t)
{
	int *first = ARENA_ARRAY(a, int, t->n + 1);
	int *before = ARENA_ARRAY(a, int, t->nedges), n = 0;
	for (int v = 0; v < t->n; v++) {
		const degree_layer *l = &t->at[v];
		first[v] = n;
		for (int i = 0; i < l->nedges; i++)
			if (t->edges[l->edges[i]].from == v)
				before[n++] = t->edges[l->edges[i]].to;
	}
	first[t->n] = n;
	return (precedence){ t->n, first, before };
}

static const uint64_t *layers_of(arena *a, const ideals *s, const pair *p)
{
	uint64_t *set = ARENA_ARRAY(a, uint64_t, s->nwords);
	for (int w = 0; w < s->nwords; w++)
		set[w] = ideal_bits(s, p->of)[w] & ~ideal_bits(s, p->behind)[w];
	return set;
}

static void make_pairs(arena *a, program *g)
{
	int n = g->sets->n;
	g->pairs = ARENA_ARRAY(a, pair, (size_t)n * (size_t)n / 2 + 1);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++) {
			pair p = { g->order[i], g->order[j], { 0 } };
			if (!ideal_within(g->sets, p.behind, p.of))
				continue;
			p.costs = piper_costs_of(a, g->t, g->r,
						 layers_of(a, g->sets, &p));
			if (p.costs.n > 0)
				g->pairs[g->npairs++] = p;
		}
}

/* ---- one limit of time --------------------------------------------------- */

/* The most micro-batches in flight with which a stage takes at most `most'; 0
 * if there are none. */
static int in_flight(const program *g, const piper_cost *c, double most)
{
	const piper_step *at = g->relaxed ? c->relaxed : c->steps;
	int lo = 0, hi = g->relaxed ? c->nrelaxed : c->nsteps;
	while (lo < hi) {
		int mid = lo + (hi - lo) / 2;
		if (at[mid].seconds <= most)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 ? at[lo - 1].y : 0;
}

static void extend(program *g, int at, int way, double most)
{
	const pair *p = &g->pairs[at];
	const piper_cost *c = &p->costs.at[way];
	int64_t s_most = (int64_t)in_flight(g, c, most) * c->replicas;
	int more = c->replicas * c->degree;
	const int *from = &g->devices[(int64_t)p->behind * (g->sum + 1)];
	int *to = &g->devices[(int64_t)p->of * (g->sum + 1)];
	for (int s = c->replicas; s <= g->sum && s <= s_most; s++) {
		int before = from[s - c->replicas];
		if (before > g->r->devices - more || before + more >= to[s])
			continue;
		to[s] = before + more;
		g->from[(int64_t)p->of * (g->sum + 1) + s] =
			(origin){ at, way };
	}
}

/* Finds a plan of the fewest devices whose stages take at most `most'.  Returns
 * its sum of replicas, 0 if there is none. */
static int solve(program *g, double most)
{
	int64_t n = (int64_t)g->sets->n * (g->sum + 1);
	int full = g->order[g->sets->n - 1], best = 0;
	for (int64_t i = 0; i < n; i++)
		g->devices[i] = INT_MAX;
	g->devices[(int64_t)g->order[0] * (g->sum + 1)] = 0;
	for (int i = 0; i < g->npairs; i++)
		for (int k = 0; k < g->pairs[i].costs.n; k++)
			extend(g, i, k, most);
	const int *end = &g->devices[(int64_t)full * (g->sum + 1)];
	for (int s = 1; s <= g->sum; s++)
		if (end[s] < INT_MAX && (best == 0 || end[s] < end[best]))
			best = s;
	return best;
}

/* Reads the plan that ends in a given sum of replicas. */
static void read_plan(arena *a, const program *g, int s, piper_plan *to)
{
	int at = g->order[g->sets->n - 1];
	to->stages = ARENA_ARRAY(a, piper_stage, g->sum);
	to->nstages = to->devices = 0;
	to->seconds = 0;
	while (at != g->order[0]) {
		origin o = g->from[(int64_t)at * (g->sum + 1) + s];
		const pair *p = &g->pairs[o.pair];
		const piper_cost *c = &p->costs.at[o.cost];
		piper_stage *x = &to->stages[to->nstages++];
		x->replicas = c->replicas;
		x->degree = c->degree;
		x->in_flight = (s + c->replicas - 1) / c->replicas;
		piper_stage_fill(a, g->t, g->r, layers_of(a, g->sets, p), x);
		to->seconds = fmax(to->seconds, x->seconds);
		to->devices += c->replicas * c->degree;
		at = p->behind;
		s -= c->replicas;
	}
}

/* ---- the least time ------------------------------------------------------ */

enum { HALVINGS = 30 };

/* Finds the least time: by bisection, then by asking for less than the time
 * found until there is no such plan. */
static bool least(arena *a, program *g, piper_plan *best)
{
	double low = 0;
	int s = solve(g, INFINITY);
	if (s == 0)
		return false;
	read_plan(a, g, s, best);
	for (int i = 0; i < HALVINGS && low < best->seconds; i++) {
		double mid = low + (best->seconds - low) / 2;
		s = solve(g, mid);
		if (s > 0)
			read_plan(a, g, s, best);
		else
			low = mid;
	}
	while (best->seconds > 0 &&
	       (s = solve(g, nextafter(best->seconds, 0))) > 0)
		read_plan(a, g, s, best);
	return true;
}

/* Sets a time below which there is no plan, even with fractions of steps
 * (piper.h). */
static void bound(program *g, piper_plan *best)
{
	double low = 0, high = best->seconds * (1 - 1e-12);
	g->relaxed = true;
	best->optimal = high <= 0 || solve(g, high) == 0;
	best->bound = best->seconds;
	if (best->optimal)
		return;
	for (int i = 0; i < HALVINGS; i++) {
		double mid = low + (high - low) / 2;
		if (solve(g, mid) > 0)
			high = mid;
		else
			low = mid;
	}
	best->bound = low;
}

bool piper_best(arena *a, const degree_table *t, const piper_request *r,
		piper_plan *best)
{
	arena *own = arena_new();
	precedence p = readers_first(own, t);
	program g = { .t = t, .r = r, .sum = piper_most_sum(r) };
	*best = (piper_plan){ 0 };
	g.sets = ideals_all(own, &p, PIPER_MAX_IDEALS);
	best->fixed_order = !g.sets;
	if (!g.sets)
		g.sets = ideals_prefixes(own, &p);
	g.order = ideals_by_size(own, g.sets);
	make_pairs(own, &g);
	int64_t nstates = (int64_t)g.sets->n * (g.sum + 1);
	g.devices = ARENA_ARRAY(own, int, nstates);
	g.from = ARENA_ARRAY(own, origin, nstates);
	best->nsplits = g.sets->n;
	bool found = least(a, &g, best);
	if (found)
		bound(&g, best);
	arena_free(own);
	return found;
}

double piper_enough_memory(const degree_table *t, const piper_request *r)
{
	for (int k = 2; k <= 8; k *= 2) {
		arena *own = arena_new();
		piper_request more = *r;
		piper_plan best;
		more.memory *= k;
		bool fits = piper_best(own, t, &more, &best);
		arena_free(own);
		if (fits)
			return more.memory;
	}
	return 0;
}
