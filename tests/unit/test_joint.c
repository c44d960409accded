/* Tests: compiler/planners compiler/cost compiler/solver */
/* compiler/planners: all axes at once, and lower bounds of that. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "compiler/cost/byte_model.h"
#include "compiler/cost/joint_problem.h"
#include "compiler/planners/joint_solve.h"
#include "compiler/planners/symmetry_bound.h"
#include "compiler/solver/local_search.h"
#include "tests/unit/graphs.h"
#include "tests/unit/stay_partial.h"
#include "tests/unit/suite.h"

enum { MAX_CANDIDATES = 4096 };

static const int64_t uneven[] = { 0, 1, 5, 7, 9, 28 };
static const rules all = { .dims = rules_all_dims, .vars = rules_all_vars,
			   .complete = true };

static graph *any_graph(arena *a, rng *r, int nnodes, int round)
{
	return round % 2 ? random_graph(a, r, nnodes) :
			   random_graph_of(a, r, nnodes, uneven, 6);
}

static int *any_values(arena *a, rng *r, const problem *p)
{
	int *value = ARENA_ARRAY(a, int, p->vars.n);
	for (int v = 0; v < p->vars.n; v++)
		value[v] = pick(r, 0, p->vars.at[v].nvalues - 1);
	return value;
}

/* All choices, and no cut, so that values that stay partial along an axis are
 * chosen whatever they were before. */
static choices any_dims(const void *state, const step *s, tensor_id t)
{
	return choices_or_whole(rules_all_dims(state, s, t));
}

static choices any_vars(const void *state, const step *s, node_id n)
{
	return choices_or_whole(rules_all_vars(state, s, n));
}

static int index_of(const candidates *w, const cuts *c, const mesh *m)
{
	int i = candidates_index(w, c, m->naxes);
	ck_assert_int_ge(i, 0);
	return i;
}

/* The values that stand for an assignment, all of which are offered. */
static int *values_of(arena *a, const graph *g, const candidate_set *w,
		      const assignment *as)
{
	int *value = ARENA_ARRAY(a, int, g->ntensors + g->nnodes);
	for (tensor_id t = 0; t < g->ntensors; t++)
		value[w->tied[t]] = index_of(w->tensors[t],
					     &as->tensor_cuts[t], &as->mesh);
	for (node_id n = 0; n < g->nnodes; n++)
		value[g->ntensors + n] = index_of(
			w->nodes[n], &as->node_cuts[n], &as->mesh);
	return value;
}

static void combine_all(cuts *c, int n, int naxes)
{
	for (int i = 0; i < n; i++)
		for (int a = 0; a < naxes; a++)
			if (c[i].dim[a] < CUT_NONE)
				c[i].dim[a] = CUT_NONE;
}

/* Counts of cases that were compared. */
typedef struct seen {
	int reduced; /* nodes that give partial results */
	int kept;    /* tensors that stay partial */
} seen;

static void compare(const graph *g, const problem *p, const int *value,
		    const assignment *as, seen *s)
{
	const mesh *m = &as->mesh;
	ck_assert_int_eq(problem_cost(p, value),
			 byte_model_total(g, as, m->naxes));
	for (node_id n = 0; n < g->nnodes; n++)
		s->reduced += layout_partial_axes(m, g->nodes[n].kernel,
						  &as->node_cuts[n]) != 0;
	if (problem_cost(p, value) == COST_MAX)
		return;
	for (tensor_id t = 0; t < g->ntensors; t++)
		s->kept += cuts_partial(&as->tensor_cuts[t], m->naxes) != 0;
}

/* Compares the tables for some assignments, and for those in which values stay
 * partial, too, where the rules offer these. */
static void compare_tables(arena *a, rng *r, const graph *g, const mesh *m,
			   const rules *offered, seen *s)
{
	candidate_set w = candidates_find(a, g, m, offered, MAX_CANDIDATES);
	if (!w.complete || joint_cells(g, &w) > 1 << 18)
		return;
	problem *p = joint_problem(a, g, m, &w);
	assignment as = { *m, ARENA_ARRAY(a, cuts, g->ntensors),
			  ARENA_ARRAY(a, cuts, g->nnodes) };
	for (int i = 0; i < (offered->partial ? 20 : 5); i++) {
		const int *value = any_values(a, r, p);
		candidates_take(&w, g, value, &as);
		compare(g, p, value, &as, s);
		if (!offered->partial)
			continue;
		combine_all(as.tensor_cuts, g->ntensors, m->naxes);
		combine_all(as.node_cuts, g->nnodes, m->naxes);
		stay_partial(a, r->state, g, &as);
		compare(g, p, values_of(a, g, &w, &as), &as, s);
	}
}

/* Tensors that are not read become outputs, which are never partial. */
static void keep_unread(arena *a, graph *g)
{
	bool *read = ARENA_ARRAY(a, bool, g->ntensors);
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
			read[g->nodes[n].inputs[i]] = true;
	for (tensor_id t = 0; t < g->ntensors; t++)
		g->tensors[t].output |= !read[t];
}

static graph *any_sums(arena *a, rng *r)
{
	static const int64_t n[] = { 0, 1, 5, 8, 12, 28, 96 };
	int64_t batch = n[pick(r, 2, 6)];
	return graph_of_sums(a, r, n[pick(r, 0, 5)], batch, pick(r, 2, 5));
}

/* The cost of any assignment of the whole problem is the byte model's. */
START_TEST(tables_equal_the_model)
{
	static const int ks[] = { 2, 3, 4, 6, 8, 12, 16, 30, 64, 96 };
	rng r = { 400 };
	seen s = { 0 };
	for (int round = 0; round < 400; round++) {
		arena *a = arena_new();
		const mesh m = mesh_of_equals(ks[round % 10]);
		bool partial = round / 20 % 2;
		graph *g = partial ? any_sums(a, &r)
				   : any_graph(a, &r, 5, round / 10);
		keep_unread(a, g);
		const rules with = {
			.dims = any_dims, .vars = any_vars,
			.partial = partial_values_of(a, g, PARTIAL_ALL),
		};
		compare_tables(a, &r, g, &m, partial ? &with : &all, &s);
		arena_free(a);
	}
	ck_assert_int_gt(s.reduced, 200);
	ck_assert_int_gt(s.kept, 500);
}
END_TEST

/* ---- the bound by classes ---------------------------------------------- */

/* Of a search over the mesh of k devices. */
static int64_t bound_of(arena *a, const graph *g, int k, int64_t top)
{
	search_result result = { .assignment.mesh = mesh_of_equals(k) };
	search s = { .arena = a, .graph = g, .k = k, .result = &result };
	return symmetry_bound(&s, &all, top);
}

/* It is below what any plan costs, and seldom far below the best. */
START_TEST(classes_are_a_bound)
{
	static const int ks[] = { 4, 8, 9, 16, 12, 24, 32, 64 };
	rng r = { 410 };
	int tight = 0, proven = 0;
	for (int round = 0; round < 200; round++) {
		arena *a = arena_new();
		graph *g = any_graph(a, &r, 6, round / 8);
		int k = ks[round % 8];
		if (round % 4 == 0)
			make_states(g);
		search_result *j = search_plan(a, g, k, "joint");
		int64_t bound = bound_of(a, g, k, COST_MAX);
		ck_assert_int_le(bound, j->total);
		ck_assert_int_ge(bound, 0);
		ck_assert_int_le(bound_of(a, g, k, j->total), j->total);
		ck_assert_int_ge(j->lower_bound, 0);
		ck_assert_int_le(j->lower_bound, j->total);
		if (j->total > 0 && j->lower_bound == j->total) {
			proven++;
			tight += bound == j->total;
		}
		arena_free(a);
	}
	ck_assert_int_gt(proven, 60);
	ck_assert_int_gt(tight, 25);
}
END_TEST

/* The classes of a node's and its tensors' ways cost no more than the ways. */
START_TEST(classes_cost_no_more)
{
	static const int ks[] = { 4, 6, 8, 12, 16, 18, 36 };
	rng r = { 420 };
	for (int round = 0; round < 210; round++) {
		arena *a = arena_new();
		graph *g = any_graph(a, &r, 1, round / 7);
		int k = ks[round % 7];
		const mesh m = mesh_of_equals(k);
		candidate_set w =
			candidates_find(a, g, &m, &all, MAX_CANDIDATES);
		problem *p = joint_problem(a, g, &m, &w);
		int64_t bound = bound_of(a, g, k, COST_MAX);
		solve_limits limits = solve_defaults();
		ck_assert_int_le(bound, solve(a, p, &limits).cost);
		arena_free(a);
	}
}
END_TEST

/* ---- what is alike ----------------------------------------------------- */

/* g, and all of it once more: the same kernels, tensors of the same types. */
static graph *doubled(arena *a, const graph *g)
{
	graph *two = ARENA_COPY(a, g, 1);
	two->ntensors *= 2;
	two->nnodes *= 2;
	two->tensors = ARENA_ARRAY(a, tensor, two->ntensors);
	two->nodes = ARENA_ARRAY(a, node, two->nnodes);
	for (tensor_id t = 0; t < two->ntensors; t++) {
		two->tensors[t] = g->tensors[t % g->ntensors];
		if (t >= g->ntensors)
			two->tensors[t].next = NONE;
	}
	for (node_id n = 0; n < two->nnodes; n++)
		two->nodes[n] = g->nodes[n % g->nnodes];
	return two;
}

/* All choices on even axes, on others what an assignment has, if it may. */
static choices open_or_now(choices c, const cuts *now, int axis)
{
	int d = now->dim[axis];
	return axis % 2 == 0 || !choices_have(&c, d) ? c : choices_one(d);
}

static choices some_dims(const void *state, const step *s, tensor_id t)
{
	const assignment *now = state;
	return open_or_now(choices_or_whole(step_dims(s, t)),
			   &now->tensor_cuts[t], step_axis(s));
}

static choices some_vars(const void *state, const step *s, node_id n)
{
	const assignment *now = state;
	return open_or_now(choices_or_whole(step_vars(s, n)),
			   &now->node_cuts[n], step_axis(s));
}

/* Candidates of rules that are uniform are those that are found one by one. */
static int compare_candidates(arena *a, const graph *g, const mesh *m,
			      const rules *one_by_one)
{
	rules shared = *one_by_one;
	shared.uniform = true;
	candidate_pool *pool = candidate_pool_new(a);
	candidate_set w = candidates_find_in(pool, a, g, m, one_by_one, 1024);
	candidate_set u = candidates_find_in(pool, a, g, m, &shared, 1024);
	int differ = 0;
	ck_assert_int_eq(w.complete, u.complete);
	for (tensor_id t = 0; t < g->ntensors && w.complete; t++)
		ck_assert_ptr_eq(w.tensors[t], u.tensors[t]);
	for (node_id n = 0; n < g->nnodes && w.complete; n++) {
		ck_assert_ptr_eq(w.nodes[n], u.nodes[n]);
		differ += w.nodes[n] != w.nodes[n % (g->nnodes / 2)];
	}
	return differ;
}

/* Any assignment that some rules lead to. */
static assignment any_assignment(arena *a, rng *r, const graph *g,
				 const mesh *m)
{
	candidate_set w = candidates_find(a, g, m, &all, MAX_CANDIDATES);
	assignment as = { *m, ARENA_ARRAY(a, cuts, g->ntensors),
			  ARENA_ARRAY(a, cuts, g->nnodes) };
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const candidates *of = w.tensors[w.tied[t]];
		as.tensor_cuts[t] = of->at[pick(r, 0, of->n - 1)];
	}
	for (node_id n = 0; n < g->nnodes; n++)
		as.node_cuts[n] = w.nodes[n]->at[pick(r, 0, w.nodes[n]->n - 1)];
	return as;
}

START_TEST(alike_are_found_once)
{
	static const int ks[] = { 2, 4, 6, 8, 12 };
	rng r = { 440 };
	int differ = 0;
	for (int round = 0; round < 100; round++) {
		arena *a = arena_new();
		graph *g = doubled(a, any_graph(a, &r, 4, round));
		const mesh m = mesh_of_equals(ks[round % 5]);
		const assignment now = any_assignment(a, &r, g, &m);
		const rules some = { .dims = some_dims, .vars = some_vars,
				     .state = &now, .now = &now };
		const rules partial = {
			.dims = any_dims, .vars = any_vars,
			.partial = partial_values_of(a, g, PARTIAL_ALL),
		};
		compare_candidates(a, g, &m, &all);
		compare_candidates(a, g, &m, &partial);
		differ += compare_candidates(a, g, &m, &some);
		arena_free(a);
	}
	/* Alike but for the assignment. */
	ck_assert_int_gt(differ, 20);
}
END_TEST

/* ---- regions ----------------------------------------------------------- */

static problem *random_problem(arena *a, rng *r, int n, int ntables)
{
	problem *p = problem_new(a);
	for (int v = 0; v < n; v++) {
		problem_add_var(p, pick(r, 1, 4));
		for (int x = 0; x < p->vars.at[v].nvalues; x++)
			problem_add_cost(p, v, x, pick(r, 0, 9));
	}
	for (int i = 0; i < ntables; i++) {
		int x = pick(r, 0, n - 1), y = x;
		/* Most are between near ones. */
		while (y == x)
			y = chance(r, 90) ? (x + pick(r, 1, 3)) % n :
					    pick(r, 0, n - 1);
		int cells = p->vars.at[x].nvalues * p->vars.at[y].nvalues;
		int64_t *cost = ARENA_ARRAY(a, int64_t, cells);
		for (int c = 0; c < cells; c++)
			cost[c] = pick(r, 0, 20);
		problem_add_table(p, x, y, cost);
	}
	return p;
}

/* A problem that fits into one region gets the best values; a larger one none
 * that are worse, and no single variable is better otherwise. */
START_TEST(regions_get_better)
{
	rng r = { 430 };
	for (int round = 0; round < 120; round++) {
		arena *a = arena_new();
		int n = round % 2 ? pick(&r, 2, 60) : pick(&r, 100, 400);
		problem *p = random_problem(a, &r, n, n + n / 4);
		int *value = any_values(a, &r, p);
		int64_t before = problem_cost(p, value);
		int64_t cost = local_search_improve(p, value,
						    (deadline){ 0 });
		ck_assert_int_eq(cost, problem_cost(p, value));
		ck_assert_int_le(cost, before);
		for (int v = 0; v < n; v++) {
			int was = value[v];
			for (int x = 0; x < p->vars.at[v].nvalues; x++) {
				value[v] = x;
				ck_assert_int_ge(problem_cost(p, value), cost);
			}
			value[v] = was;
		}
		solve_limits limits = solve_defaults();
		solution s = solve(a, p, &limits);
		if (round % 2 && s.optimal && n <= 40)
			ck_assert_int_eq(cost, s.cost);
		arena_free(a);
	}
}
END_TEST

/* To try the whole problem first changes nothing of the cost. */
START_TEST(quick_is_as_good)
{
	rng r = { 432 };
	int better = 0;
	for (int round = 0; round < 100; round++) {
		arena *a = arena_new();
		graph *g = any_graph(a, &r, pick(&r, 1, 12), round);
		const mesh m = mesh_of_equals(round % 3 ? 4 : 6);
		candidate_set w = candidates_find(a, g, &m, &all,
						  MAX_CANDIDATES);
		problem *p = joint_problem(a, g, &m, &w);
		const int *now = any_values(a, &r, p);
		solve_limits limits = solve_defaults();
		solution s = joint_solve(a, g, p, now, false, &limits);
		solution q = joint_solve(a, g, p, now, true, &limits);
		ck_assert_int_eq(q.cost, s.cost);
		ck_assert_int_eq(problem_cost(p, q.value), s.cost);
		ck_assert_int_ge(q.lower_bound, s.lower_bound);
		better += s.cost < problem_cost(p, now);
		/* Nothing is better than that. */
		q = joint_solve(a, g, p, s.value, true, &limits);
		ck_assert_mem_eq(q.value, s.value,
				 (size_t)p->vars.n * sizeof(*s.value));
		arena_free(a);
	}
	ck_assert_int_gt(better, 50);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("joint");
	TCase *c = tcase_create("all");
	tcase_add_test(c, tables_equal_the_model);
	tcase_add_test(c, classes_are_a_bound);
	tcase_add_test(c, classes_cost_no_more);
	tcase_add_test(c, alike_are_found_once);
	tcase_add_test(c, regions_get_better);
	tcase_add_test(c, quick_is_as_good);
	suite_add_tcase(s, c);
	return s;
}
