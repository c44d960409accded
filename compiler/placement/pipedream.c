/* PipeDream's planner: a dynamic program over pairs of ideals. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "compiler/placement/ideals.h"
#include "compiler/placement/pipedream.h"

typedef struct origin {
	int ideal, replicas; /* of the last stage; the ideal before it */
} origin;

typedef struct program {
	const layer_chain *l;
	const stage_model *m;
	const bool *free;  /* layers at an end that cost nothing */
	const ideals *sets;
	int *order;	   /* of ideals by size */
	double *ns, *parameters; /* by ideal */
	int ndevices;
	double *best;	   /* at [ideal][devices], ns; INFINITY */
	origin *from;
} program;

/* ---- layers -------------------------------------------------------------- */

static bool costs_nothing(const layer_chain *l, int v)
{
	return l->forward[v] == 0 && l->backward[v] == 0 &&
	       l->parameters[v] == 0;
}

/* Marks layers that read nothing, or that nobody reads, and that cost
 * nothing. */
static bool *free_ends(arena *a, const layer_chain *l)
{
	bool *free = ARENA_ARRAY(a, bool, l->n);
	int left = l->n;
	for (int v = 0; v < l->n; v++) {
		bool end = l->first_read[v] == l->first_read[v + 1] ||
			l->last_reader[v] < 0;
		free[v] = end && costs_nothing(l, v);
		left -= free[v];
	}
	if (left == 0)
		memset(free, 0, sizeof(*free) * (size_t)l->n);
	return free;
}

/* The precedence of layers, without the free ones, which have no order. */
static precedence precedence_of(arena *a, const layer_chain *l,
				const bool *free)
{
	int *first = ARENA_ARRAY(a, int, l->n + 1), n = 0;
	int *before = ARENA_ARRAY(a, int, l->first_read[l->n]);
	int *number = ARENA_ARRAY(a, int, l->n), count = 0;
	for (int v = 0; v < l->n; v++)
		if (!free[v])
			number[v] = count++;
	for (int v = 0; v < l->n; v++) {
		if (free[v])
			continue;
		first[number[v]] = n;
		for (int e = l->first_read[v]; e < l->first_read[v + 1]; e++)
			if (!free[l->reads[e]])
				before[n++] = number[l->reads[e]];
	}
	first[count] = n;
	return (precedence){ count, first, before };
}

static void measure_ideals(arena *a, program *g)
{
	int n = 0;
	g->ns = ARENA_ARRAY(a, double, g->sets->n);
	g->parameters = ARENA_ARRAY(a, double, g->sets->n);
	for (int v = 0; v < g->l->n; v++) {
		if (g->free[v])
			continue;
		for (int i = 0; i < g->sets->n; i++)
			if (ideal_has(g->sets, i, n)) {
				g->ns[i] += g->l->forward[v] +
					g->l->backward[v];
				g->parameters[i] += g->l->parameters[v];
			}
		n++;
	}
}

/* ---- the program --------------------------------------------------------- */

static double stage_ns(const stage_model *m, double ns, double parameters,
		       int replicas)
{
	double bytes = 4 * (replicas - 1.0) * parameters / replicas;
	return (ns + bytes / m->bandwidth * 1e9) / replicas;
}

/* Extends plans of ideal j by a last stage to ideal i. */
static void extend(program *g, int i, int j, double *stage)
{
	int K = g->ndevices;
	const double *from = &g->best[(int64_t)j * (K + 1)];
	double *to = &g->best[(int64_t)i * (K + 1)];
	for (int m = 1; m <= K; m++)
		stage[m] = stage_ns(g->m, g->ns[i] - g->ns[j],
				    g->parameters[i] - g->parameters[j], m);
	for (int k = 1; k <= K; k++)
		for (int m = 1; m <= k; m++) {
			double x = fmax(from[k - m], stage[m]);
			if (x >= to[k])
				continue;
			to[k] = x;
			g->from[(int64_t)i * (K + 1) + k] = (origin){ j, m };
		}
}

static void solve(arena *a, program *g)
{
	int n = g->sets->n, K = g->ndevices;
	double *stage = ARENA_ARRAY(a, double, K + 1);
	g->best = ARENA_ARRAY(a, double, (size_t)n * ((size_t)K + 1));
	g->from = ARENA_ARRAY(a, origin, (size_t)n * ((size_t)K + 1));
	for (int64_t x = 0; x < (int64_t)n * (K + 1); x++)
		g->best[x] = INFINITY;
	g->best[(int64_t)g->order[0] * (K + 1)] = 0;
	for (int i = 1; i < n; i++)
		for (int j = 0; j < i; j++)
			if (ideal_within(g->sets, g->order[j], g->order[i]))
				extend(g, g->order[i], g->order[j], stage);
}

/* ---- the plan ------------------------------------------------------------ */

/* The stage of each layer.  Free layers go with their first reader, or with
 * what they read. */
static int *stages_of(arena *a, const program *g, pipedream_plan *to)
{
	int *stage = ARENA_ARRAY(a, int, g->l->n), K = g->ndevices;
	int at = g->order[g->sets->n - 1], k = K, n = 0;
	const ideals *s = g->sets;
	while (at != g->order[0]) {
		origin o = g->from[(int64_t)at * (K + 1) + k];
		pipedream_stage *x = &to->stages[to->nstages++];
		x->replicas = o.replicas;
		x->predicted = 1e-9 * stage_ns(
			g->m, g->ns[at] - g->ns[o.ideal],
			g->parameters[at] - g->parameters[o.ideal],
			o.replicas);
		n = 0;
		for (int v = 0; v < g->l->n; v++) {
			if (g->free[v])
				continue;
			if (ideal_has(s, at, n) && !ideal_has(s, o.ideal, n))
				stage[v] = to->nstages - 1;
			n++;
		}
		at = o.ideal;
		k -= o.replicas;
	}
	return stage;
}

/* Reverses the numbers of stages, so that the first one computes first. */
static void turn(const program *g, pipedream_plan *p, int *stage)
{
	const layer_chain *l = g->l;
	for (int i = 0; i < p->nstages / 2; i++) {
		pipedream_stage x = p->stages[i];
		p->stages[i] = p->stages[p->nstages - 1 - i];
		p->stages[p->nstages - 1 - i] = x;
	}
	for (int v = 0; v < l->n; v++)
		stage[v] = p->nstages - 1 - stage[v];
	for (int v = 0; v < l->n; v++)
		if (g->free[v])
			stage[v] = l->last_reader[v] < 0 ? p->nstages - 1 :
							   0;
}

/* The bytes that a stage's layers read from others, and that others read from
 * it. */
static void cut_bytes(arena *a, const layer_chain *l, const int *stage, int s,
		      double *in, double *out)
{
	bool *goes_in = ARENA_ARRAY(a, bool, l->n);
	bool *goes_out = ARENA_ARRAY(a, bool, l->n);
	for (int v = 0; v < l->n; v++)
		for (int e = l->first_read[v]; e < l->first_read[v + 1]; e++) {
			int u = l->reads[e];
			goes_in[u] |= stage[v] == s && stage[u] != s;
			goes_out[u] |= stage[v] != s && stage[u] == s;
		}
	*in = *out = 0;
	for (int u = 0; u < l->n; u++) {
		*in += goes_in[u] ? l->activation[u] : 0;
		*out += goes_out[u] ? l->activation[u] : 0;
	}
}

static void judge_stage(arena *a, const program *g, const int *stage, int s,
			int behind, pipedream_stage *x)
{
	const layer_chain *l = g->l;
	const stage_model *m = g->m;
	double ns = 0, parameters = 0, activations = 0, in, out;
	int flight = (behind + x->replicas - 1) / x->replicas;
	x->layers = ARENA_ARRAY(a, int, l->n);
	for (int v = 0; v < l->n; v++)
		if (stage[v] == s) {
			x->layers[x->n++] = v;
			ns += l->forward[v] + l->backward[v];
			parameters += l->parameters[v];
			activations += l->activation[v];
		}
	cut_bytes(a, l, stage, s, &in, &out);
	x->in_flight = flight < m->micro_batches ? flight : m->micro_batches;
	x->nbytes = m->factor * parameters + x->in_flight * (activations + in);
	x->seconds = ns * 1e-9 + 2 * (in + out) / m->bandwidth;
	x->exchange = 2 * (x->replicas - 1.0) / x->replicas * parameters /
		m->bandwidth;
}

static void judge_plan(arena *a, const program *g, const int *stage,
		       pipedream_plan *p)
{
	int behind = 0;
	double sum = 0, exchange = 0;
	for (int s = p->nstages; s-- > 0;) {
		pipedream_stage *x = &p->stages[s];
		behind += x->replicas;
		judge_stage(a, g, stage, s, behind, x);
		sum += x->seconds;
		exchange = fmax(exchange, x->exchange);
		p->predicted = fmax(p->predicted, x->predicted);
		p->bottleneck = fmax(p->bottleneck, x->seconds / x->replicas);
		p->peak = fmax(p->peak, x->nbytes);
	}
	p->step = sum + (g->m->micro_batches - 1) * p->bottleneck + exchange;
}

void pipedream_best(arena *a, const layer_chain *l, const stage_model *m,
		    int ndevices, pipedream_plan *best)
{
	arena *own = arena_new();
	program g = { .l = l, .m = m, .free = free_ends(own, l),
		      .ndevices = ndevices };
	precedence p = precedence_of(own, l, g.free);
	*best = (pipedream_plan){ 0 };
	g.sets = ideals_all(own, &p, PIPEDREAM_MAX_STATES / ndevices);
	best->fixed_order = !g.sets;
	if (!g.sets)
		g.sets = ideals_prefixes(own, &p);
	best->nideals = g.sets->n;
	g.order = ideals_by_size(own, g.sets);
	measure_ideals(own, &g);
	solve(own, &g);
	best->stages = ARENA_ARRAY(a, pipedream_stage, ndevices);
	int *stage = stages_of(own, &g, best);
	turn(&g, best, stage);
	judge_plan(a, &g, stage, best);
	arena_free(own);
}
