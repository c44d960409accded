/* Tests: compiler/portfolio */
/* The candidates of auto are the same, in the same order, by any number of
 * threads; so are their programs, which are what each is when it alone is
 * made. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "compiler/portfolio/candidates.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

enum { CASES = 12, NODES = 14 };

static plan_request request_of(arena *a, const graph *g, int seed)
{
	const topology *t = topology_preset(seed % 2 ? 2 : 0);
	const plan_objective by[] = { OBJECTIVE_TIME, OBJECTIVE_TIME,
				      OBJECTIVE_MEMORY, OBJECTIVE_BYTES };
	const int64_t rooms[] = { PLAN_MAX_BYTES, 2000, PLAN_MAX_BYTES, 0 };
	return (plan_request){ .arena = a, .sink = diag_sink_new(a),
			       .graph = g, .algorithm = PLAN_AUTO,
			       .k = seed % 3 == 2 ? 6 : 4, .topology = t,
			       .objective = by[seed / 2 % 4],
			       .memory = seed % 5 == 3 ? 2000 : 0,
			       .room = rooms[seed % 4] };
}

/* The candidates, and the number of the best. */
static plan_candidates by_threads(plan_request how, int threads, int *best)
{
	plan_candidates all = { 0 }, *to = &all;
	plan_candidate *found;
	how.threads = threads;
	ck_assert(plan_gather(&how, false, to));
	ck_assert(plan_best(&how, to, &found));
	ck_assert_ptr_nonnull(found);
	*best = (int)(found - to->at);
	return all;
}

static void check_same_programs(const plan_programs *x, const plan_programs *y)
{
	ck_assert_int_eq(x->n, y->n);
	for (int i = 0; i < x->n; i++) {
		const plan_program *a = &x->at[i], *b = &y->at[i];
		ck_assert_int_eq(a->room, b->room);
		ck_assert_int_eq(a->schedule.order, b->schedule.order);
		ck_assert(a->schedule.overlapping == b->schedule.overlapping);
		ck_assert_int_eq(a->held, b->held);
		ck_assert_int_eq(a->in_use, b->in_use);
		ck_assert_int_eq(a->moved, b->moved);
		ck_assert_double_eq(a->seconds, b->seconds);
		ck_assert_double_eq(a->least_kept, b->least_kept);
		ck_assert_double_eq(a->saved, b->saved);
	}
}

/* Programs whose figures follow from another's have them all the same. */
static void check_figures(const plan_request *how, const plan_candidate *c)
{
	for (int i = 0; i < c->programs.n; i++) {
		const plan_program *p = &c->programs.at[i];
		program_maker m = { .how = how, .as = &c->search->assignment };
		program_bar bar = { p->held < 0 ? -1 : INFINITY, INT64_MAX };
		plan_program own = { .room = p->room, .schedule = p->schedule,
				     .in_use = -1 };
		ck_assert(program_measure(&m, &own, &bar, NULL, NULL));
		ck_assert_int_eq(own.held, p->held);
		ck_assert_int_eq(own.moved, p->moved);
		ck_assert_double_eq(own.seconds, p->seconds);
		ck_assert_double_eq(own.least, p->least);
		ck_assert_double_eq(own.least_kept, p->least_kept);
		program_maker_free(&m);
	}
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
		check_same_programs(&x->at[i].programs, &y->at[i].programs);
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
	int best, other;
	plan_candidates one = by_threads(how, 1, &best);
	for (int threads = 2; threads < 5; threads++) {
		plan_candidates more = by_threads(how, threads, &other);
		check_same(g, &one, &more);
		ck_assert_int_eq(other, best);
	}
	for (int i = 0; i < one.n && how.objective != OBJECTIVE_MEMORY; i++)
		check_figures(&how, &one.at[i]);
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
