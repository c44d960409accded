#include "config.h"

#include "compiler/planners/best_first.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "compiler/cost/program_bounds.h"
#include "compiler/planners/planner.h"

enum {
	MAX_CANDIDATES = 256, /* candidates of a tensor or node */
	MOST_CELLS = 1 << 16, /* cells in all cost tables together */
	MOST_LOOKS = 1 << 18, /* values of variables that are looked at */
	MOST_PLANS = 2048,    /* plans that are lowered */
	WEIGHINGS = 24,	      /* weightings of bytes against seconds */
	/* rounds; each doubles the distance to the bound */
	ROUNDS = 6,
};

/* A sum of cost tables.  The sum less `shift' is a lower bound of seconds or
 * bytes. */
typedef struct bar {
	mini_bucket *sum;
	double shift; /* subtracted from the sum */
	bool bytes;
	double *at; /* by variable: the bound once it has its value */
} bar;

typedef struct hunt {
	const best_first_request *q;
	best_first_result *r;
	arena *arena;
	const candidate_set *candidates;
	const program_bound_set *program_bounds;
	assignment as;
	VEC(bar) bars;
	/* of the variables here; of those of joint_problem() */
	int *value, *whole;
	double best; /* only plans with a smaller value are wanted */
	/* this round looks at plans whose bound lies in between */
	double from, to;
	int looks, most_looks, most_plans;
	deadline deadline;
	bool failed; /* lower() returned false */
} hunt;

static bool is_late(const hunt *h)
{
	return deadline_is_over(h->deadline);
}

/* ---- plans ------------------------------------------------------------- */

static choices dims(const void *state, const step *s, tensor_id t)
{
	(void)state;
	return choices_or_whole(step_dims(s, t));
}

static choices vars(const void *state, const step *s, node_id n)
{
	(void)state;
	return choices_or_whole(step_vars(s, n));
}

static bool within_limit(const hunt *h, int64_t bytes)
{
	return h->q->limit == 0 || bytes <= h->q->limit;
}

/* Lowers the plan with these values of the variables, and notes its figure if
 * it is the best so far. */
static void look_at(hunt *h, const int *value)
{
	best_first_value v;
	for (int i = 0; i < h->program_bounds->nvars; i++)
		h->whole[h->program_bounds->of[i]] = value[i];
	candidates_take(h->candidates, h->q->graph, h->whole, &h->as);
	h->r->nplans++;
	if (!h->q->lower(h->q->to, &h->as, &v)) {
		h->failed = true;
		return;
	}
	double is = h->q->memory ? (double)v.bytes : v.seconds;
	if ((h->q->memory || within_limit(h, v.bytes)) && is < h->best)
		h->best = is;
}

/* The values of the variables in the known plan, in a.  A variable whose value
 * is not among its candidates gets 0. */
static int *values_of(const hunt *h, arena *a, const assignment *as)
{
	const graph *g = h->q->graph;
	int naxes = h->q->mesh.naxes;
	int *whole = ARENA_ARRAY(a, int, g->ntensors + g->nnodes);
	for (tensor_id t = 0; t < g->ntensors; t++)
		whole[t] = candidates_index(h->candidates->tensors[t],
					    &as->tensor_cuts[t], naxes);
	for (node_id n = 0; n < g->nnodes; n++)
		whole[g->ntensors + n] = candidates_index(
			h->candidates->nodes[n], &as->node_cuts[n], naxes);
	for (int i = 0; i < g->ntensors + g->nnodes; i++)
		whole[i] = whole[i] < 0 ? 0 : whole[i];
	return whole;
}

/* ---- bounds ------------------------------------------------------------ */

/* Bytes by which a sum of byte tables may exceed a program's bytes: offsets are
 * rounded up, but the end of the last buffer is not. */
static double slack(const hunt *h)
{
	return (double)h->program_bounds->time_model->pad;
}

static bar *add_bar(hunt *h, double shift, bool bytes)
{
	const program_bound_set *s = h->program_bounds;
	bar b = { .sum = mini_bucket_new(h->arena, s->nvars, s->nvalues),
		  .shift = shift, .bytes = bytes,
		  .at = ARENA_ARRAY(h->arena, double, s->nvars) };
	vec_push(h->arena, &h->bars, b);
	return &h->bars.at[h->bars.n - 1];
}

static void add_bars(hunt *h, const program_bounds *all, double shift,
		     bool bytes)
{
	for (int i = 0; i < all->n; i++) {
		bar *b = add_bar(h, shift, bytes);
		program_bound_add(b->sum, &all->at[i], 1);
		mini_bucket_solve(b->sum, h->arena);
	}
}

/* Sets value[] to an assignment that the bound suggests: each variable in turn
 * gets the value with the least bound. */
static void decode(const mini_bucket *x, int *value)
{
	double before = x->least;
	for (int v = 0; v < x->nvars; v++) {
		double least = INFINITY;
		int best = 0;
		for (value[v] = 0; value[v] < x->nvalues[v]; value[v]++) {
			double f = mini_bucket_step(x, v, value, before);
			if (f < least) {
				least = f;
				best = value[v];
			}
		}
		value[v] = best;
		before = least;
	}
}

/* Takes one subgradient step on the weights.  Each weight grows with the number
 * of bytes by which its figure exceeds the limit.  The length of the step is
 * about the gain that is left. */
static void weigh(hunt *h, const int *value, double gain, double *weight)
{
	const program_bounds *all = &h->program_bounds->bytes;
	double *over = ARENA_ARRAY(h->arena, double, all->n), length = 0;
	for (int i = 0; i < all->n; i++) {
		over[i] = program_bound_at(h->program_bounds, &all->at[i],
					   value) -
			  (double)h->q->limit - slack(h);
		if (over[i] > 0 || weight[i] > 0)
			length += over[i] * over[i];
	}
	for (int i = 0; i < all->n; i++) {
		weight[i] += length > 0 ? gain * over[i] / length : 0;
		weight[i] = weight[i] > 0 ? weight[i] : 0;
	}
}

/* Adds a bar of seconds plus weighted bytes above the limit.  The weights are
 * chosen to make the bound high.  Plans found on the way are lowered, too. */
static void add_weighted(hunt *h, const program_bound *seconds)
{
	const program_bound_set *s = h->program_bounds;
	const double limit = (double)h->q->limit + slack(h);
	double *weight = ARENA_ARRAY(h->arena, double, s->bytes.n);
	bar best = { 0 };
	int *value = ARENA_ARRAY(h->arena, int, s->nvars);
	for (int i = 0; i < WEIGHINGS && !h->failed && !is_late(h); i++) {
		mini_bucket *x =
			mini_bucket_new(h->arena, s->nvars, s->nvalues);
		program_bound_add(x, seconds, 1);
		for (int j = 0; j < s->bytes.n; j++)
			if (weight[j] > 0) {
				program_bound_add(x, &s->bytes.at[j],
						  weight[j]);
				x->constant -= weight[j] * limit;
			}
		mini_bucket_solve(x, h->arena);
		if (!best.sum || x->least > best.sum->least)
			best.sum = x;
		decode(x, value);
		look_at(h, value);
		double goal = isfinite(h->best) ? h->best : 2 * x->least;
		weigh(h, value, (goal - x->least) * (1 - i / (double)WEIGHINGS),
		      weight);
	}
	best.at = ARENA_ARRAY(h->arena, double, s->nvars);
	vec_push(h->arena, &h->bars, best);
}

/* ---- the search -------------------------------------------------------- */

/* Lower bounds that hold for all plans in a set. */
typedef struct promise {
	double value; /* seconds or bytes, whichever is minimised */
	double bytes;
} promise;

static bool is_better(const promise *x, const promise *y)
{
	const double same = 1 - 1e-9;
	if (x->value < y->value * same || y->value < x->value * same)
		return x->value < y->value;
	return x->bytes < y->bytes;
}

/* Whether plans that begin with the values up to var may still be better than
 * the best one and lie in this round.  Sets *p to their lower bounds. */
static bool is_open(hunt *h, int var, promise *p)
{
	bool open = true;
	*p = (promise){ 0, 0 };
	for (int i = 0; i < h->bars.n && open; i++) {
		bar *b = &h->bars.at[i];
		double before = var > 0 ? b->at[var - 1] : b->sum->least;
		double f = mini_bucket_step(b->sum, var, h->value, before);
		b->at[var] = f;
		if (b->bytes && h->q->limit > 0)
			open = f - b->shift <= (double)h->q->limit;
		if (b->bytes == h->q->memory && f - b->shift > p->value)
			p->value = f - b->shift;
		if (b->bytes && f > p->bytes)
			p->bytes = f;
		if (p->value >= h->best || p->value > h->to)
			open = false;
	}
	return open;
}

static bool is_over(const hunt *h)
{
	return h->failed || h->looks >= h->most_looks ||
	       h->r->nplans >= h->most_plans || is_late(h);
}

/* Tries the values of a variable, those with the least bound first.  The values
 * of earlier variables are set, and the bars hold their bounds. */
static void search_from(hunt *h, int var)
{
	int n = h->program_bounds->nvalues[var],
	    last = h->program_bounds->nvars - 1;
	arena *tmp = arena_new();
	promise *all = ARENA_ARRAY(tmp, promise, n);
	for (int i = 0; i < n; i++, h->looks++) {
		h->value[var] = i;
		if (!is_open(h, var, &all[i]))
			all[i].value = INFINITY;
	}
	while (!is_over(h)) {
		promise *next = all;
		for (promise *p = all; p < all + n; p++)
			if (is_better(p, next))
				next = p;
		if (next->value >= h->best)
			break;
		h->value[var] = (int)(next - all);
		if (var < last && is_open(h, var, next))
			search_from(h, var + 1);
		else if (var == last && next->value > h->from)
			look_at(h, h->value);
		next->value = INFINITY;
	}
	arena_free(tmp);
}

/* Searches in rounds of growing bounds.  If the search is cut short, the plans
 * left out are those with the highest bounds. */
static void search_rounds(hunt *h)
{
	double least = 0;
	for (int i = 0; i < h->bars.n; i++) {
		const bar *b = &h->bars.at[i];
		if (b->bytes == h->q->memory)
			least = fmax(least, b->sum->least - b->shift);
	}
	h->r->bound = least;
	h->from = -1;
	for (int i = 0; i < ROUNDS && !is_over(h); i++) {
		double part = ldexp(1, i + 1 - ROUNDS);
		h->to = i + 1 < ROUNDS && isfinite(h->best)
				? least + part * (h->best - least) : INFINITY;
		search_from(h, 0);
		if (is_over(h))
			break;
		h->r->bound = fmin(h->best, h->to);
		h->from = h->to;
		h->r->proven = h->best <= h->to;
		if (h->r->proven)
			break;
	}
}

/* Searches first without allowance for rounding, which finds plans that fit
 * sooner.  Then searches all plans that may be better. */
static void search_twice(hunt *h)
{
	int most = h->q->most_plans ? h->q->most_plans : MOST_PLANS;
	int looks = most < MOST_PLANS ? MOST_LOOKS / MOST_PLANS * most
				      : MOST_LOOKS;
	h->most_looks = looks / 4;
	h->most_plans = h->r->nplans + most / 4;
	for (int i = 0; i < h->bars.n; i++)
		if (h->bars.at[i].bytes)
			h->bars.at[i].shift = 0;
	if (h->q->limit > 0 && !h->q->memory)
		search_rounds(h);
	h->most_looks = h->looks + looks;
	h->most_plans = h->r->nplans + most;
	for (int i = 0; i < h->bars.n; i++)
		if (h->bars.at[i].bytes)
			h->bars.at[i].shift = slack(h);
	h->r->proven = false;
	search_rounds(h);
}

static void search_candidates(hunt *h)
{
	const best_first_request *q = h->q;
	const graph *g = q->graph;
	time_model_cache *c =
		time_model_cache_new(h->arena, &q->mesh, q->topology, true);
	time_model *x = time_model_new(h->arena, c, g, h->candidates);
	h->program_bounds = program_bounds_new(h->arena, x, q->topology,
					       values_of(h, h->arena, q->start),
					       q->merges, q->pins != NULL);
	int n = h->program_bounds->nvars;
	h->value = ARENA_ARRAY(h->arena, int, n);
	h->whole = ARENA_ARRAY(h->arena, int, g->ntensors + g->nnodes);
	h->as = (assignment){ q->mesh, ARENA_ARRAY(h->arena, cuts, g->ntensors),
			      ARENA_ARRAY(h->arena, cuts, g->nnodes) };
	bool known = q->memory || within_limit(h, q->known.bytes);
	h->best = !known    ? INFINITY
		  : q->memory ? (double)q->known.bytes
			      : q->known.seconds;
	if (n == 0)
		return;
	h->r->tried = true;
	if (!q->memory)
		add_bars(h, &h->program_bounds->seconds, 0, false);
	if (q->memory || q->limit > 0)
		add_bars(h, &h->program_bounds->bytes, slack(h), true);
	for (int i = 0;
	     i < h->program_bounds->seconds.n && q->limit > 0 && !q->memory;
	     i++)
		add_weighted(h, &h->program_bounds->seconds.at[i]);
	search_twice(h);
}

/* Whether cost tables of this size can be made in the given time.  The time of
 * a cell is estimated as a constant times the number of workers. */
static bool is_affordable(const best_first_request *q, int64_t cells)
{
	const double each = 2e-6 * mesh_workers(&q->mesh);
	return cells <= MOST_CELLS &&
	       (q->seconds <= 0 || (double)cells * each <= q->seconds);
}

bool bounded_may_try(const graph *g)
{
	return g->nnodes <= PROGRAM_BOUNDS_MOST_NODES;
}

bool best_first_search(const best_first_request *q, best_first_result *r)
{
	arena *tmp = arena_new();
	hunt h = { .q = q, .r = r, .arena = tmp };
	h.deadline = deadline_in(q->seconds);
	const search s = { .arena = tmp, .pins = q->pins };
	const rules any = { .dims = dims, .vars = vars };
	const rules all = search_pinned(&s, &any);
	*r = (best_first_result){ 0 };
	if (bounded_may_try(q->graph)) {
		candidate_set w = candidates_find(tmp, q->graph, &q->mesh, &all,
						  MAX_CANDIDATES);
		h.candidates = &w;
		if (w.complete &&
		    is_affordable(q, time_model_cells(q->graph, &w)))
			search_candidates(&h);
	}
	arena_free(tmp);
	return !h.failed;
}
