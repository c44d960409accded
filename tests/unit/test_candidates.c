/* Tests: compiler/portfolio */
/* The candidates of auto are the same, in the same order, by any number of
 * threads. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "base/memory.h"
#include "compiler/portfolio/candidates.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

enum { CASES = 12, NODES = 14 };

static plan_request request_of(arena *a, const graph *g, int seed)
{
	const topology *t = topology_preset(seed % 2 ? 2 : 0);
	return (plan_request){ .arena = a, .sink = diag_sink_new(a),
			       .graph = g, .algorithm = PLAN_AUTO,
			       .k = seed % 3 == 2 ? 6 : 4, .topology = t };
}

static plan_candidates by_threads(plan_request how, int threads)
{
	plan_candidates all = { 0 };
	how.threads = threads;
	ck_assert(plan_gather(&how, false, &all));
	return all;
}

static void check_same(const graph *g, const plan_candidates *x,
		       const plan_candidates *y)
{
	ck_assert_int_gt(x->n, 5);
	ck_assert_int_eq(x->n, y->n);
	for (int i = 0; i < x->n; i++) {
		const search_result *a = x->at[i].search;
		const search_result *b = y->at[i].search;
		ck_assert_str_eq(a->algorithm, b->algorithm);
		ck_assert_int_eq(a->total, b->total);
		ck_assert_int_eq(a->lower_bound, b->lower_bound);
		ck_assert(!a->whole == !b->whole);
		ck_assert(plan_is_same(g, &a->assignment, &b->assignment));
	}
}

static void check_seed(void *arg)
{
	int seed = *(const int *)arg;
	arena *a = arena_new();
	rng r = { (uint64_t)seed };
	const graph *g = seed % 2 ? random_training(a, &r, NODES)
				  : random_sums(a, &r, NODES);
	const plan_request how = request_of(a, g, seed);
	plan_candidates one = by_threads(how, 1);
	for (int threads = 2; threads < 5; threads++) {
		plan_candidates more = by_threads(how, threads);
		check_same(g, &one, &more);
	}
	/* The plan that is there already is not searched again: it stays. */
	plan_candidates some = { 0 };
	plan_add_found(a, one.at[0].search, &some);
	plan_request again = how;
	again.threads = 3;
	ck_assert(plan_gather(&again, false, &some));
	ck_assert_ptr_eq(some.at[0].search, one.at[0].search);
	ck_assert_int_eq(some.n, one.n);
	arena_free(a);
}

START_TEST(threads_change_nothing)
{
	memory m = { 0 };
	int seed = cases_from() + _i;
	ck_assert_int_eq(memory_call(&m, check_seed, &seed), MEMORY_DONE);
	ck_assert_uint_eq(atomic_load(&m.used), 0);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("candidates");
	TCase *c = tcase_create("candidates");
	tcase_set_timeout(c, 600);
	tcase_add_loop_test(c, threads_change_nothing, 0,
			    cases_asked(CASES));
	suite_add_tcase(s, c);
	return s;
}
