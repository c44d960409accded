/* Tests: compiler/planners compiler/cost */
/* compiler/cost, compiler/planners: tables against the plain model, steps
 * against all assignments, and what the planners promise. */
#include "config.h"

#include <check.h>

#include "compiler/cost/byte_model.h"
#include "compiler/cost/partial_values.h"
#include "compiler/planners/search.h"
#include "tests/unit/graphs.h"
#include "tests/unit/results.h"
#include "tests/unit/suite.h"

/* ---- factors ----------------------------------------------------------- */

START_TEST(factors_descend)
{
	int f[MAX_AXES];
	ck_assert_int_eq(mesh_factors(1, f), 0);
	ck_assert_int_eq(mesh_factors(12, f), 3);
	ck_assert(f[0] == 3 && f[1] == 2 && f[2] == 2);
	ck_assert_int_eq(mesh_factors(97, f), 1);
	ck_assert_int_eq(f[0], 97);
	ck_assert_int_eq(mesh_factors(65536, f), 16);
	for (int k = 1; k < 2000; k++) {
		int n = mesh_factors(k, f), product = 1;
		for (int i = 0; i < n; i++) {
			product *= f[i];
			ck_assert(i == 0 || f[i] <= f[i - 1]);
			for (int p = 2; p < f[i]; p++)
				ck_assert_int_ne(f[i] % p, 0);
		}
		ck_assert_int_eq(product, k);
	}
}
END_TEST

/* ---- tables ------------------------------------------------------------ */

static assignment no_cuts(arena *a, const graph *g)
{
	assignment as = { .tensor_cuts = ARENA_ARRAY(a, cuts, g->ntensors),
			  .node_cuts = ARENA_ARRAY(a, cuts, g->nnodes) };
	for (int t = 0; t < g->ntensors; t++)
		as.tensor_cuts[t] = cuts_none();
	for (int n = 0; n < g->nnodes; n++)
		as.node_cuts[n] = cuts_none();
	return as;
}

/* All choices of a step, partial values among them, and now and then CUT_NONE
 * as other planners have it. */
static choices *all_dims(arena *a, rng *r, const step *s)
{
	const partial_values *p = partial_values_of(a, s->g, PARTIAL_ALL);
	choices *c = ARENA_ARRAY(a, choices, s->g->ntensors);
	for (int t = 0; t < s->g->ntensors; t++) {
		c[t] = partial_or_dims(p, step_dims(s, t), s, t);
		if (!choices_have(&c[t], CUT_NONE) && chance(r, 20))
			c[t].at[c[t].n++] = CUT_NONE;
	}
	return c;
}

static choices *all_vars(arena *a, rng *r, const step *s)
{
	const partial_values *p = partial_values_of(a, s->g, PARTIAL_ALL);
	choices *c = ARENA_ARRAY(a, choices, s->g->nnodes);
	for (int n = 0; n < s->g->nnodes; n++) {
		c[n] = partial_or_vars(p, step_vars(s, n), s, n);
		if (!choices_have(&c[n], CUT_NONE) && chance(r, 20))
			c[n].at[c[n].n++] = CUT_NONE;
	}
	return c;
}

/* Writes random values of the problem's variables to the last axis. */
static int *random_values(arena *a, rng *r, const formulation *f)
{
	const graph *g = f->step->g;
	const problem *p = f->problem;
	int axis = step_axis(f->step), *value;
	value = ARENA_ARRAY(a, int, p->vars.n);
	for (int v = 0; v < p->vars.n; v++)
		value[v] = pick(r, 0, p->vars.at[v].nvalues - 1);
	for (int t = 0; t < g->ntensors; t++)
		f->step->as->tensor_cuts[t].dim[axis] =
			(signed char)formulation_dim(f, t, value);
	for (int n = 0; n < g->nnodes; n++)
		f->step->as->node_cuts[n].dim[axis] =
			(signed char)formulation_strategy(f, n, value);
	return value;
}

static void check_tables(arena *a, rng *r, const graph *g, const mesh *m,
			 int round)
{
	assignment as = no_cuts(a, g);
	step s = { g, &as };
	/* Of partial values that are handed on few fit: of those that do, sums
	 * are separated where there are four groups before the axis. */
	int most = m->naxes > 2 ? 60 : 4;
	for (int i = 0; i < m->naxes; i++) {
		as.mesh.size[as.mesh.naxes++] = m->size[i];
		formulation f = formulate(a, &s, all_dims(a, r, &s),
					  all_vars(a, r, &s));
		for (int tries = 0; tries < most; tries++) {
			int *value = random_values(a, r, &f);
			for (node_id n = 0; n < g->nnodes; n++)
				ck_assert_msg(
					formulation_node_bytes(&f, n, value) ==
						byte_model_node(g, &as, n,
								i + 1),
					"round %d, axis %d, node %d, %s: %lld, "
					"the model says %lld", round, i, n,
					g->nodes[n].kernel->name,
					(long long)formulation_node_bytes(
						&f, n, value),
					(long long)byte_model_node(
						g, &as, n, i + 1));
			ck_assert_int_eq(problem_cost(f.problem, value),
					 byte_model_total(g, &as, i + 1));
		}
	}
}

static const mesh meshes[] = {
	{ 1, { 2 } },	 { 1, { 3 } },	     { 1, { 5 } },
	{ 2, { 2, 2 } }, { 2, { 3, 2 } },    { 3, { 2, 2, 2 } },
	{ 2, { 5, 3 } }, { 4, { 2, 2, 2, 2 } },
};

enum { NMESHES = sizeof(meshes) / sizeof(meshes[0]) };

START_TEST(tables_equal_the_model)
{
	rng r = { 50 + (uint64_t)_i };
	for (int round = 0; round < 60; round++) {
		arena *a = arena_new();
		check_tables(a, &r, random_graph(a, &r, 5), &meshes[_i], round);
		arena_free(a);
	}
}
END_TEST

/* A chain of one kernel, cut in different ways: what is remembered of one node
 * is not taken for another. */
START_TEST(tables_are_not_mixed_up)
{
	rng r = { 60 + (uint64_t)_i };
	for (int round = 0; round < 40; round++) {
		arena *a = arena_new();
		graph_maker m = { .a = a };
		const int64_t dims[] = { 16, 17 };
		tensor_id x = add_tensor(&m, TENSOR_INPUT, DT_F32, 2, dims);
		for (int n = 0; n < 6; n++)
			x = add_node(&m, kernel_to(a, 2, dims, DT_F32), &x);
		check_tables(a, &r, make_graph(&m), &meshes[_i], round);
		arena_free(a);
	}
}
END_TEST

/* The same with kernels that nobody would write. */
START_TEST(tables_of_odd_kernels)
{
	static const recipe recipes[] = {
		{ .max_extent = 7 },
		{ .reduce = true, .max_extent = 9 },
		{ .conditions = true, .joint = true, .max_extent = 8 },
		{ .quasi = true, .reduce = true, .max_extent = 12 },
		{ .data = true, .quasi = true, .max_extent = 6 },
	};
	rng r = { 70 + (uint64_t)_i };
	for (int round = 0; round < 150; round++) {
		arena *a = arena_new();
		graph_maker m = { .a = a };
		kernel *k = random_kernel(a, &r, &recipes[round % 5]);
		tensor_id in[MAX_NINPUTS];
		kernel_finish(a, k);
		for (int i = 0; i < k->ninputs; i++)
			in[i] = add_tensor(&m, TENSOR_INPUT, k->inputs[i].type,
					   k->inputs[i].ndim,
					   k->inputs[i].dims);
		add_node(&m, k, in);
		check_tables(a, &r, make_graph(&m), &meshes[_i], round);
		arena_free(a);
	}
}
END_TEST

/* ---- steps ------------------------------------------------------------- */

/* The least bytes of one node over its strategies, the tensors being cut as
 * they are. */
static int64_t best_strategy(const graph *g, assignment *as, node_id n,
			     const choices *vars)
{
	int axis = as->mesh.naxes - 1;
	int64_t least = COST_MAX;
	for (int i = 0; i < vars->n; i++) {
		as->node_cuts[n].dim[axis] = vars->at[i];
		int64_t c = byte_model_node(g, as, n, axis + 1);
		least = c < least ? c : least;
	}
	return least;
}

/* C_i at its least over all ways to cut the last axis; -1 where there are too
 * many of them. */
static int64_t brute_force(arena *a, const graph *g, assignment *as)
{
	step s = { g, as };
	int axis = as->mesh.naxes - 1, t;
	const tensor_id *tied = tied_tensors(a, g);
	choices *dims = ARENA_ARRAY(a, choices, g->ntensors);
	choices *vars = ARENA_ARRAY(a, choices, g->nnodes);
	int *value = ARENA_ARRAY(a, int, g->ntensors);
	int64_t best = COST_MAX, all = 1;
	for (t = 0; t < g->ntensors; t++) {
		dims[t] = step_dims(&s, t);
		if (tied[t] != t)
			dims[t].n = 1;
		all *= dims[t].n;
	}
	for (node_id n = 0; n < g->nnodes; n++)
		vars[n] = step_vars(&s, n);
	if (all > 1500)
		return -1;
	do {
		int64_t sum = 0;
		for (t = 0; t < g->ntensors; t++)
			as->tensor_cuts[t].dim[axis] =
				dims[tied[t]].at[value[tied[t]]];
		for (node_id n = 0; n < g->nnodes && sum < best; n++)
			sum += best_strategy(g, as, n, &vars[n]);
		best = sum < best ? sum : best;
		for (t = 0; t < g->ntensors && ++value[t] == dims[t].n; t++)
			value[t] = 0;
	} while (t < g->ntensors);
	return best;
}

static search_result *plan_for(arena *a, const graph *g, int k,
			       const char *name)
{
	search_result *r = search_plan(a, g, k, name);
	ck_assert_str_eq(r->algorithm, name);
	return r;
}

START_TEST(steps_are_optimal)
{
	static const int ks[] = { 2, 3, 4, 6 };
	int k = ks[_i], checked = 0, states = 0;
	rng r = { 90 + (uint64_t)_i };
	for (int round = 0; round < 100; round++) {
		arena *a = arena_new();
		graph *g = random_graph(a, &r, 6);
		states += round % 2 ? make_states(g) : 0;
		search_result *is = plan_for(a, g, k, "tofu");
		check_result_by_step(g, is, k);
		int64_t sum = 0;
		for (int i = 0; i < is->assignment.mesh.naxes; i++) {
			/* the axes before as they were found */
			assignment as = is->assignment;
			as.tensor_cuts = ARENA_COPY(a, as.tensor_cuts,
						    g->ntensors);
			as.node_cuts = ARENA_COPY(a, as.node_cuts, g->nnodes);
			as.mesh.naxes = i + 1;
			int64_t best = brute_force(a, g, &as);
			sum += is->by_step[i];
			if (best < 0)
				continue;
			checked++;
			ck_assert_msg(sum == best, "k %d, round %d, step %d: "
				      "%lld, the least is %lld", k, round, i,
				      (long long)sum, (long long)best);
			if (is->assignment.mesh.naxes == 1)
				ck_assert_int_eq(is->lower_bound, best);
		}
		arena_free(a);
	}
	ck_assert_int_gt(checked, 50);
	ck_assert_int_gt(states, 10);
}
END_TEST

START_TEST(planners_keep_their_rules)
{
	static const int ks[] = { 1, 2, 3, 4, 6, 8, 12, 64 };
	rng r = { 11 };
	for (int round = 0; round < 120; round++) {
		arena *a = arena_new();
		graph *g = random_graph(a, &r, 8);
		if (round % 3 == 0)
			make_states(g);
		int k = ks[round % 8];
		search_result *t = plan_for(a, g, k, "tofu");
		search_result *w = plan_for(a, g, k, "allrow");
		search_result *d = plan_for(a, g, k, "data-parallel");
		const mesh *m = &t->assignment.mesh;
		check_result_by_step(g, t, k);
		check_result_by_step(g, w, k);
		check_result_by_step(g, d, k);
		if (m->naxes == 1)
			ck_assert_int_le(t->total, w->total);
		for (int x = 0; x < g->ntensors; x++)
			for (int i = 0; i < m->naxes; i++) {
				assignment as = w->assignment;
				as.mesh.naxes = i + 1;
				step s = { g, &as };
				ck_assert_int_eq(as.tensor_cuts[x].dim[i],
						 step_dims(&s, x).at[0]);
				as = t->assignment;
				as.mesh.naxes = i + 1;
				choices c = step_dims(&s, x);
				ck_assert(choices_have(
					&c, as.tensor_cuts[x].dim[i]));
				if (g->tensors[x].kind == TENSOR_CONSTANT)
					ck_assert_int_eq(
						d->assignment.tensor_cuts[x]
							.dim[i], CUT_NONE);
			}
		arena_free(a);
	}
}
END_TEST

START_TEST(the_same_again)
{
	rng r = { 12 };
	for (int round = 0; round < 20; round++) {
		arena *a = arena_new();
		graph *g = random_graph(a, &r, 12);
		search_result *x = plan_for(a, g, 8, "tofu");
		search_result *y = plan_for(a, g, 8, "tofu");
		ck_assert_mem_eq(x->assignment.tensor_cuts,
				 y->assignment.tensor_cuts,
				 sizeof(cuts) * (size_t)g->ntensors);
		ck_assert_mem_eq(x->assignment.node_cuts,
				 y->assignment.node_cuts,
				 sizeof(cuts) * (size_t)g->nnodes);
		arena_free(a);
	}
}
END_TEST

/* However little time there is, there is a plan, and what is said of it is
 * true; with enough time it is the same as without a limit. */
START_TEST(time_is_a_limit)
{
	rng r = { 14 };
	for (int round = 0; round < 30; round++) {
		arena *a = arena_new();
		graph *g = random_graph(a, &r, 12);
		search_result *x = plan_for(a, g, 8, "tofu");
		search_request q = { .mesh = mesh_of_equals(8),
				     .algorithm = "tofu", .seconds = 1e-6 };
		search_result *y = search_plan_for(a, g, &q);
		q.seconds = 100;
		search_result *z = search_plan_for(a, g, &q);
		ck_assert_int_eq(byte_model_total(g, &y->assignment, 3),
				 y->total);
		for (int i = 0; i < 3; i++)
			ck_assert(y->least_by_step[i] <= y->by_step[i] &&
				  y->optimal_by_step[i] ==
					  (y->least_by_step[i] ==
					   y->by_step[i]));
		ck_assert(y->least_by_step[0] <= x->by_step[0] &&
			  y->by_step[0] >= x->by_step[0]);
		ck_assert_int_eq(z->total, x->total);
		arena_free(a);
	}
}
END_TEST

START_TEST(one_device)
{
	rng r = { 13 };
	arena *a = arena_new();
	graph *g = random_graph(a, &r, 8);
	const char *name;
	for (int i = 0; (name = search_algorithm(i, NULL)); i++) {
		search_result *p = plan_for(a, g, 1, name);
		ck_assert_int_eq(p->assignment.mesh.naxes, 0);
		ck_assert_int_eq(p->total, 0);
		ck_assert_int_eq(p->lower_bound, 0);
		ck_assert(!p->note);
	}
	arena_free(a);
}
END_TEST

START_TEST(algorithms_are_listed)
{
	const char *about = NULL;
	ck_assert_str_eq(search_algorithm(0, &about), "tofu");
	ck_assert(about && *about);
	ck_assert(!search_algorithm(-1, NULL));
	ck_assert(!search_algorithm(1000, NULL));
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("search");
	TCase *c = tcase_create("all");
	tcase_add_test(c, factors_descend);
	tcase_add_loop_test(c, tables_equal_the_model, 0, NMESHES);
	tcase_add_loop_test(c, tables_are_not_mixed_up, 0, NMESHES);
	tcase_add_loop_test(c, tables_of_odd_kernels, 0, NMESHES);
	tcase_add_loop_test(c, steps_are_optimal, 0, 4);
	tcase_add_test(c, planners_keep_their_rules);
	tcase_add_test(c, the_same_again);
	tcase_add_test(c, time_is_a_limit);
	tcase_add_test(c, one_device);
	tcase_add_test(c, algorithms_are_listed);
	suite_add_tcase(s, c);
	return s;
}
