/* Tests: compiler/planners compiler/cost */
/* Bounds of programs, and the search that goes by them: no program is below
 * them, and nothing is missed that trying out all plans finds. */
#include "config.h"

#include <check.h>
#include <math.h>

#include "compiler/cost/program_bounds.h"
#include "compiler/lower/cost.h"
#include "compiler/lower/fuse.h"
#include "compiler/lower/lower.h"
#include "compiler/planners/best_first.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

/* ---- plans ------------------------------------------------------------- */

static choices or_whole(choices c)
{
	if (!choices_have(&c, CUT_NONE))
		c.at[c.n++] = CUT_NONE;
	return c;
}

static choices dims(const void *state, const step *s, tensor_id t)
{
	(void)state;
	return or_whole(step_dims(s, t));
}

static choices vars(const void *state, const step *s, node_id n)
{
	(void)state;
	return or_whole(step_vars(s, n));
}

static const rules all_ways = { .dims = dims, .vars = vars };

/* A place for the cuts of a graph. */
static assignment blank(arena *a, const graph *g, const mesh *m)
{
	return (assignment){ *m, ARENA_ARRAY(a, cuts, g->ntensors),
			     ARENA_ARRAY(a, cuts, g->nnodes) };
}

static const mesh meshes[] = {
	{ 1, { 2 } }, { 1, { 3 } }, { 2, { 2, 2 } }, { 2, { 3, 2 } },
	{ 1, { 5 } }, { 3, { 2, 2, 2 } },
};
enum { NMESHES = sizeof(meshes) / sizeof(*meshes) };

static topology machine_of(int seed)
{
	topology t = *topology_preset(seed % 2 ? 2 : 0);
	t.overlap = seed / 2 % 2;
	if (seed / 4 % 2)
		t.levels[0].latency = 0;
	if (seed / 8 % 2)
		t.levels[0].bandwidth /= 1000;
	return t;
}

/* ---- bounds hold ------------------------------------------------------- */

static void check_bounds(const program_bound_set *s, const int *value,
			 const plan *p, const topology *t)
{
	double seconds = lower_seconds(p, t);
	for (int i = 0; i < s->seconds.n; i++)
		ck_assert_double_le(
			program_bound_at(s, &s->seconds.at[i], value),
			seconds * (1 + 1e-9));
	for (int i = 0; i < s->bytes.n; i++)
		ck_assert_double_le(
			program_bound_at(s, &s->bytes.at[i], value),
			(double)(p->arena_bytes + s->time_model->pad));
}

START_TEST(no_program_is_below)
{
	static const int64_t memories[] = { 0, 1, INT64_C(1) << 40 };
	for (int seed = 0; seed < 300; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		int size = 1 + seed % 9;
		graph *g = seed % 3 == 0   ? random_graph(a, &r, size)
			   : seed % 3 == 1 ? random_training(a, &r, size)
					   : random_chain(a, &r, size);
		const mesh *m = &meshes[seed % NMESHES];
		topology t = machine_of(seed);
		candidate_set w = candidates_find(a, g, m, &all_ways, 64);
		if (g->nnodes > 20 || !w.complete ||
		    time_model_cells(g, &w) > 4000) {
			arena_free(a);
			continue;
		}
		time_model_cache *c = time_model_cache_new(a, m, &t, true);
		time_model *x = time_model_new(a, c, g, &w);
		int nwhole = g->ntensors + g->nnodes;
		int *whole = ARENA_ARRAY(a, int, nwhole);
		bool separate = seed % 2;
		const merge *merges = separate ? NULL : fuse_outlook(a, g);
		/* Of any plan, and not of one of those that are alike. */
		program_bound_set *s =
			program_bounds_new(a, x, &t, whole, merges, true);
		int *value = ARENA_ARRAY(a, int, s->nvars);
		assignment as = blank(a, g, m);
		for (int round = 0; round < 9; round++) {
			for (int i = 0; i < s->nvars; i++)
				whole[s->of[i]] = value[i] =
					rng_below(&r, s->nvalues[i]);
			candidates_take(&w, g, whole, &as);
			const lower_options o = {
				.algorithm = "random",
				.memory = memories[round % 3],
				.schedule = { round % LOWER_NORDERS,
					      round % 2 },
				.separate = separate,
			};
			plan *p = lower_plan(a, g, &as, &o, diag_sink_new(a));
			ck_assert(p);
			check_bounds(s, value, p, &t);
		}
		arena_free(a);
	}
}
END_TEST

/* ---- nothing is missed ------------------------------------------------- */

typedef struct judge {
	const graph *g;
	const topology *t;
	int64_t limit;
	double best; /* seconds within the limit, or bytes */
	bool memory, separate;
} judge;

static bool lower(void *to, const assignment *as, best_first_value *v)
{
	judge *j = to;
	arena *a = arena_new();
	const lower_options o = { .algorithm = "x", .memory = j->limit,
				  .separate = j->separate };
	plan *p = lower_plan(a, j->g, as, &o, diag_sink_new(a));
	ck_assert(p);
	*v = (best_first_value){ lower_seconds(p, j->t), p->arena_bytes };
	arena_free(a);
	if (j->memory)
		j->best = fmin(j->best, (double)v->bytes);
	else if (j->limit == 0 || v->bytes <= j->limit)
		j->best = fmin(j->best, v->seconds);
	return true;
}

/* All plans, one after the other; the bytes of the least and of the fastest. */
static void try_all(judge *j, const candidate_set *w, const mesh *m,
		    int64_t *least, int64_t *fastest)
{
	const graph *g = j->g;
	arena *a = arena_new();
	int n = g->ntensors + g->nnodes, i;
	int *value = ARENA_ARRAY(a, int, n);
	assignment as = blank(a, g, m);
	*least = *fastest = INT64_MAX;
	do {
		double before = j->best;
		best_first_value v;
		candidates_take(w, g, value, &as);
		lower(j, &as, &v);
		*least = v.bytes < *least ? v.bytes : *least;
		*fastest = j->best < before ? v.bytes : *fastest;
		for (i = n; i-- > 0;) {
			int most = i >= g->ntensors
					   ? w->nodes[i - g->ntensors]->n
				   : w->tied[i] == i ? w->tensors[i]->n : 1;
			if (++value[i] < most)
				break;
			value[i] = 0;
		}
	} while (i >= 0);
	arena_free(a);
}

static double count_plans(const graph *g, const candidate_set *w)
{
	double n = 1;
	for (tensor_id t = 0; t < g->ntensors; t++)
		n *= w->tied[t] == t ? w->tensors[t]->n : 1;
	for (node_id i = 0; i < g->nnodes; i++)
		n *= w->nodes[i]->n;
	return n;
}

/* From the plan in which nothing is cut. */
static void search_for(const judge *like, const mesh *m, double want)
{
	arena *a = arena_new();
	judge j = *like;
	assignment as = blank(a, j.g, m);
	best_first_result r;
	for (tensor_id t = 0; t < j.g->ntensors; t++)
		as.tensor_cuts[t] = cuts_none();
	for (node_id n = 0; n < j.g->nnodes; n++)
		as.node_cuts[n] = cuts_none();
	best_first_request q = { .graph = j.g, .mesh = *m, .topology = j.t,
				 .limit = j.limit, .memory = j.memory,
				 .merges = j.separate ? NULL
						   : fuse_outlook(a, j.g),
				 .start = &as, .lower = lower, .to = &j };
	j.best = INFINITY;
	lower(&j, &as, &q.known);
	ck_assert(best_first_search(&q, &r));
	ck_assert(r.tried);
	ck_assert(r.proven);
	ck_assert_double_eq(j.best, want);
	ck_assert(!isfinite(want) || r.bound <= want * (1 + 1e-9));
	arena_free(a);
}

static void check_limit(const judge *like, const candidate_set *w,
			const mesh *m, int64_t limit)
{
	judge all = *like;
	int64_t least, fastest;
	all.limit = limit;
	all.best = INFINITY;
	try_all(&all, w, m, &least, &fastest);
	search_for(&all, m, all.best);
}

START_TEST(best_of_all)
{
	int ntried = 0;
	for (int seed = 0; ntried * sample_every() < 60; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		graph *g = seed % 3 == 0   ? random_graph(a, &r, 1 + seed % 3)
			   : seed % 3 == 1 ? random_training(a, &r, 1)
					   : random_chain(a, &r, 1 + seed % 3);
		const mesh *m = &meshes[seed % NMESHES];
		topology t = machine_of(seed);
		candidate_set w = candidates_find(a, g, m, &all_ways, 64);
		double n = w.complete ? count_plans(g, &w) : INFINITY;
		if (n >= 20 && n <= 1500) {
			judge j = { g, &t, 0, INFINITY, false, ntried % 2 };
			int64_t least, most, limit;
			ntried++;
			try_all(&j, &w, m, &least, &most);
			search_for(&j, m, j.best);
			limit = least + (most - least) *
					(1 + rng_below(&r, 9)) / 10;
			check_limit(&j, &w, m, limit);
			check_limit(&j, &w, m, least);
			j.memory = true;
			search_for(&j, m, (double)least);
		}
		arena_free(a);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("bounded");
	TCase *t = tcase_create("bounded");
	tcase_add_test(t, no_program_is_below);
	tcase_add_test(t, best_of_all);
	suite_add_tcase(s, t);
	return s;
}
