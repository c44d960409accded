/* The cost of a stage in Piper's plans: a knapsack problem of ways. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "compiler/placement/piper.h"

/* A way of a layer in a stage. */
typedef struct choice {
	int way;
	double seconds, kept, fixed;
} choice;

/* A step from one way of an item to another that takes more time and less
 * memory. */
typedef struct step {
	int item, from, to;
	double seconds, nbytes; /* added; saved */
} step;

typedef struct stage {
	int n, *layers;
	int *first; /* item i has choices at[first[i]] .. first[i + 1] */
	choice *at;
	int *taken; /* by item: a choice */
	step *steps;
	int *hull;
	double memory;
} stage;

static bool has(const uint64_t *set, int v)
{
	return set[v / 64] >> (v % 64) & 1;
}

static int *members(arena *a, const degree_table *t, const uint64_t *set,
		    int *n)
{
	int *layers = ARENA_ARRAY(a, int, t->n);
	*n = 0;
	for (int v = 0; v < t->n; v++)
		if (has(set, v))
			layers[(*n)++] = v;
	return layers;
}

/* ---- choices ------------------------------------------------------------- */

static double instr_time(const degree_table *t, const piper_request *r,
			 const uint64_t *set, int v, const degree_way *w,
			 int d)
{
	const degree_layer *l = &t->at[v];
	double bytes = 0;
	for (int i = 0; i < l->nedges; i++) {
		const degree_edge *e = &t->edges[l->edges[i]];
		if (!has(set, e->from == v ? e->to : e->from))
			bytes += 2 * (e->bytes + w->sync[i]);
	}
	bytes = bytes / d + 4 * (d - 1.0) * w->parameters / d /
		r->micro_batches;
	return bytes / r->bandwidth + w->seconds / d;
}

/* Makes a stage with room for the ways of its layers. */
static stage stage_new(arena *a, const degree_table *t,
		       const piper_request *r, const uint64_t *set)
{
	stage s = { .memory = r->memory };
	int n = 0;
	s.layers = members(a, t, set, &s.n);
	for (int i = 0; i < s.n; i++)
		n += t->at[s.layers[i]].nways;
	s.first = ARENA_ARRAY(a, int, s.n + 1);
	s.at = ARENA_ARRAY(a, choice, n);
	s.taken = ARENA_ARRAY(a, int, s.n);
	s.steps = ARENA_ARRAY(a, step, n);
	s.hull = ARENA_ARRAY(a, int, n);
	return s;
}

/* Sets the choices.  Returns false if a layer has none at this degree. */
static bool set_choices(stage *s, const degree_table *t,
			const piper_request *r, const uint64_t *set, int d,
			int degree)
{
	int n = 0;
	for (int i = 0; i < s->n; i++) {
		const degree_layer *l = &t->at[s->layers[i]];
		s->first[i] = n;
		for (int k = 0; k < l->nways; k++) {
			const degree_way *w = &l->ways[k];
			if (w->degree != degree)
				continue;
			s->at[n++] = (choice){ k, instr_time(
				t, r, set, s->layers[i], w, d),
				w->kept, w->fixed };
		}
		if (n == s->first[i])
			return false;
	}
	s->first[s->n] = n;
	return true;
}

static double bytes_of(const choice *c, int y)
{
	return y * c->kept + c->fixed;
}

static double total_bytes(const stage *s, int y)
{
	double kept = 0, fixed = 0;
	for (int i = 0; i < s->n; i++) {
		kept += s->at[s->taken[i]].kept;
		fixed += s->at[s->taken[i]].fixed;
	}
	return y * kept + fixed;
}

static double total_seconds(const stage *s)
{
	double sum = 0;
	for (int i = 0; i < s->n; i++)
		sum += s->at[s->taken[i]].seconds;
	return sum;
}

/* ---- the rule ------------------------------------------------------------ */

/* The fastest of an item's choices; of equal ones the one with the least
 * memory. */
static int fastest(const stage *s, int i, int y)
{
	int best = s->first[i];
	for (int c = best + 1; c < s->first[i + 1]; c++) {
		const choice *x = &s->at[c], *b = &s->at[best];
		if (x->seconds < b->seconds ||
		    (x->seconds == b->seconds &&
		     bytes_of(x, y) < bytes_of(b, y)))
			best = c;
	}
	return best;
}

/* Adds the steps of an item along its lower convex hull.  Each goes to the
 * choice that costs the least time per byte, the farthest of these. */
static int hull_steps(stage *s, int i, int y, int n)
{
	int at = s->taken[i];
	for (;;) {
		step best = { -1, 0, 0, INFINITY, 1 };
		for (int c = s->first[i]; c < s->first[i + 1]; c++) {
			double less = bytes_of(&s->at[at], y) -
				bytes_of(&s->at[c], y);
			double more = s->at[c].seconds - s->at[at].seconds;
			if (less <= 0)
				continue;
			double x = more * best.nbytes, b = best.seconds * less;
			if (best.item < 0 || x < b ||
			    (x == b && less > best.nbytes))
				best = (step){ i, at, c, more, less };
		}
		if (best.item < 0)
			return n;
		s->steps[n++] = best;
		at = best.to;
	}
}

static int by_price(const void *x, const void *y)
{
	const step *a = x, *b = y;
	double p = a->seconds / a->nbytes, q = b->seconds / b->nbytes;
	if (p != q)
		return p < q ? -1 : 1;
	if (a->item != b->item)
		return a->item < b->item ? -1 : 1;
	return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

/* Chooses ways for y micro-batches in flight.  Returns false if nothing fits.
 * *relaxed: the time with fractions of steps. */
static bool choose(stage *s, int y, double *relaxed)
{
	int n = 0, done = 0;
	for (int i = 0; i < s->n; i++)
		s->taken[i] = fastest(s, i, y);
	double over = total_bytes(s, y) - s->memory;
	*relaxed = total_seconds(s);
	if (over <= 0)
		return true;
	for (int i = 0; i < s->n; i++)
		n = hull_steps(s, i, y, n);
	if (n > 1)
		qsort(s->steps, (size_t)n, sizeof(*s->steps), by_price);
	for (; done < n && over > 0; done++) {
		const step *p = &s->steps[done];
		*relaxed += p->seconds * fmin(1, over / p->nbytes);
		over -= p->nbytes;
		s->taken[p->item] = p->to;
	}
	if (over > 0)
		return false;
	while (done-- > 0) {
		const step *p = &s->steps[done];
		if (s->taken[p->item] != p->to || over + p->nbytes > 0)
			continue;
		over += p->nbytes;
		s->taken[p->item] = p->from;
	}
	return true;
}

/* ---- all replicas and degrees -------------------------------------------- */

typedef VEC(piper_step) step_list;

/* Removes superfluous steps.  A stage that fits with more micro-batches in
 * flight also fits with fewer, so times become minima over later steps.  Equal
 * ones are merged. */
static int tidy(piper_step *at, int n)
{
	int kept = 0;
	for (int i = n - 1; i > 0; i--)
		at[i - 1].seconds = fmin(at[i - 1].seconds, at[i].seconds);
	for (int i = 0; i < n; i++)
		if (i + 1 == n || at[i + 1].seconds > at[i].seconds)
			at[kept++] = at[i];
	return kept;
}

/* Finds the steps of a stage whose choices are set. */
static void find_steps(arena *a, stage *s, int most, piper_cost *to)
{
	step_list exact = { 0 }, relaxed = { 0 };
	arena *own = arena_new();
	double least;
	for (int y = 1; y <= most && choose(s, y, &least); y++) {
		piper_step x = { y, total_seconds(s) };
		vec_push(own, &exact, x);
		x.seconds = fmin(least, x.seconds);
		vec_push(own, &relaxed, x);
	}
	if (exact.n > 0) {
		to->nsteps = tidy(exact.at, exact.n);
		to->steps = ARENA_COPY(a, exact.at, to->nsteps);
		to->nrelaxed = tidy(relaxed.at, relaxed.n);
		to->relaxed = ARENA_COPY(a, relaxed.at, to->nrelaxed);
	}
	arena_free(own);
}

piper_costs piper_costs_of(arena *a, const degree_table *t,
			   const piper_request *r, const uint64_t *set)
{
	VEC(piper_cost) all = { 0 };
	arena *own = arena_new();
	stage s = stage_new(own, t, r, set);
	const degree_layer *l = &t->at[s.layers[0]];
	int sum = piper_most_sum(r);
	for (int k = 0; k < l->nways; k++) {
		int degree = l->ways[k].degree;
		if (k > 0 && l->ways[k - 1].degree == degree)
			continue;
		for (int d = 1; d <= sum && d * degree <= r->devices; d++) {
			piper_cost c = { .replicas = d, .degree = degree };
			if (r->micro_batches % d ||
			    !set_choices(&s, t, r, set, d, degree))
				continue;
			find_steps(a, &s, (sum + d - 1) / d, &c);
			if (c.nsteps > 0)
				vec_push(a, &all, c);
		}
	}
	arena_free(own);
	return (piper_costs){ all.n, all.at };
}

void piper_stage_fill(arena *a, const degree_table *t, const piper_request *r,
		      const uint64_t *set, piper_stage *to)
{
	arena *own = arena_new();
	stage s = stage_new(own, t, r, set);
	double relaxed;
	bool fits = set_choices(&s, t, r, set, to->replicas, to->degree);
	double least = INFINITY;
	int at = to->in_flight;
	int most = (piper_most_sum(r) + to->replicas - 1) / to->replicas;
	/* The choice for more in flight may be faster, as in tidy(). */
	for (int y = at; y <= most && fits && choose(&s, y, &relaxed); y++)
		if (total_seconds(&s) < least) {
			least = total_seconds(&s);
			at = y;
		}
	choose(&s, at, &relaxed);
	to->n = s.n;
	to->layers = ARENA_COPY(a, s.layers, s.n);
	to->ways = ARENA_ARRAY(a, int, s.n);
	for (int i = 0; i < s.n; i++)
		to->ways[i] = s.at[s.taken[i]].way;
	to->seconds = total_seconds(&s);
	to->nbytes = total_bytes(&s, to->in_flight);
	arena_free(own);
}
