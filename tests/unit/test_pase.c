/* Tests: compiler/planners */
/* The planner of PaSE: the costs that it counts, and that its plans are of
 * least cost. */
#include "config.h"

#include <check.h>

#include "compiler/planners/partial_assignment.h"
#include "compiler/planners/pase_weights.h"
#include "tests/unit/graphs.h"
#include "tests/unit/results.h"
#include "tests/unit/suite.h"

/* ---- all plans --------------------------------------------------------- */

/* ---- pins -------------------------------------------------------------- */

/* ---- pase -------------------------------------------------------------- */

/* The least over all configurations, each priced as a whole; -1 where there
 * are too many. */
static int64_t least_cost(arena *a, const graph *g, const bool *forward,
			  const layers *l)
{
	counts *of = ARENA_ARRAY(a, counts, g->nnodes);
	int *value = ARENA_ARRAY(a, int, g->nnodes), n;
	int64_t all = 1, best = COST_MAX;
	for (n = 0; n < g->nnodes; n++)
		all *= l->of[n]->n;
	if (all > 20000)
		return -1;
	do {
		for (n = 0; n < g->nnodes; n++)
			of[n] = l->of[n]->at[value[n]];
		int64_t cost = layers_cost(g, forward, of);
		best = cost < best ? cost : best;
		for (n = 0; n < g->nnodes && ++value[n] == l->of[n]->n; n++)
			value[n] = 0;
	} while (n < g->nnodes);
	return best;
}

START_TEST(configurations_are_optimal)
{
	static const int ks[] = { 2, 4, 6 };
	int checked = 0, nshared = 0;
	rng r = { 350 };
	for (int round = 0; round < 60; round++) {
		arena *a = arena_new();
		graph *g = random_graph(a, &r, 3);
		int k = ks[round % 3];
		const bool *forward = partial_assignment_forward(a, g);
		const layer_limits any = { k, round % 2, 1000 };
		layers *l = layers_formulate(a, g, forward, &any);
		solve_limits limits = solve_defaults();
		solution s = solve(a, l->problem, &limits);
		int64_t least = least_cost(a, g, forward, l);
		nshared += pase_weights(a, g, forward)->n > 0 && least >= 0;
		search_result *p = search_plan(a, g, k, "pase");
		check_result(g, p, k);
		ck_assert_int_le(p->own.relaxed_bound, p->own.total);
		ck_assert_int_le(p->own.total, p->own.one_device);
		if (round % 2 == 1)
			ck_assert_int_eq(p->own.total, s.cost);
		if (least >= 0) {
			ck_assert_int_eq(s.cost, least);
			checked++;
		}
		arena_free(a);
	}
	ck_assert_int_gt(checked, 20);
	ck_assert_int_gt(nshared, 2);
}
END_TEST

/* A product of matrices on its own: 3mnk / p, and an all-reduce of each matrix
 * over the devices that divide what it has not. */
START_TEST(a_layer_costs)
{
	arena *a = arena_new();
	const kernel *k = kernel_matmul(a, 64, 48, 80, false);
	counts c = counts_ones();
	ck_assert(pase_layer(k, &c, 0) == 3.0 * 64 * 48 * 80);
	c.of[0] = 2;
	c.of[1] = 4;
	c.of[2] = 5;
	ck_assert_int_eq(counts_product(k, &c), 40);
	double m = 32, n = 12, q = 16, sums;
	sums = m * n * 4 / 5 + m * q * 3 / 4 + q * n * 1 / 2;
	ck_assert_double_eq_tol(pase_layer(k, &c, 0),
				3 * m * n * q + 5000 * 2 * sums, 1e-3);
	arena_free(a);
}
END_TEST

/* Two products with one weight: divided alike, the gradient's parts are added
 * up and exchanged once; else one of the two is exchanged for itself. */
START_TEST(a_shared_weight_costs_once)
{
	arena *a = arena_new();
	graph_maker m = { .a = a };
	const int64_t in[] = { 8, 12 };
	tensor_id w = weight(&m, 12, 20), x[2];
	const kernel *k = kernel_matmul(a, 8, 20, 12, false);
	for (int i = 0; i < 2; i++) {
		x[i] = add_tensor(&m, TENSOR_INPUT, DT_F32, 2, in);
		add_node(&m, k, (tensor_id[]){ x[i], w });
	}
	graph *g = make_graph(&m);
	const bool forward[] = { true, true };
	counts of[] = { counts_ones(), counts_ones() };
	of[0].of[0] = of[1].of[0] = 4;
	double work = 3.0 * 2 * 20 * 12, sum = 5000 * 2 * 3 / 4.0 * 12 * 20;
	ck_assert(layers_cost(g, forward, of) == 2 * work + sum);
	of[1] = counts_ones();
	of[1].of[1] = 4;
	double x_sum = 5000 * 2 * 3 / 4.0 * 8 * 12;
	ck_assert(layers_cost(g, forward, of) ==
		  work + 3.0 * 8 * 5 * 12 + sum + x_sum);
	of[1] = counts_ones();
	of[1].of[0] = 2;
	double other = 5000 * 2 * 1 / 2.0 * 12 * 20;
	ck_assert(layers_cost(g, forward, of) ==
		  work + 3.0 * 4 * 20 * 12 + sum + other);
	arena_free(a);
}
END_TEST

/* A reader on as many devices or fewer finds its part, if it lies so. */
START_TEST(a_transfer_costs)
{
	const double half[] = { 8, 16 }, rows[] = { 4, 32 }, all[] = { 16, 32 };
	ck_assert(pase_transfer(2, half, 4, half, 4) == 0);
	ck_assert(pase_transfer(2, half, 4, all, 4) == 0);
	ck_assert(pase_transfer(2, half, 4, rows, 4) ==
		  2 * 5000.0 * (8 * 16 - 4 * 16));
	ck_assert(pase_transfer(2, all, 1, half, 4) ==
		  2 * 5000.0 * (16 * 32 - 8 * 16));
	ck_assert(pase_transfer(2, half, 8, half, 4) == 2 * 5000.0 * 8 * 16);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("pase");
	TCase *c = tcase_create("all");
	tcase_add_test(c, configurations_are_optimal);
	tcase_add_test(c, a_layer_costs);
	tcase_add_test(c, a_shared_weight_costs_once);
	tcase_add_test(c, a_transfer_costs);
	suite_add_tcase(s, c);
	return s;
}
