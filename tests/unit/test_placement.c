/* Tests: compiler/placement */
/* The judge, the bounds and the algorithms on graphs small enough to be looked
 * at by hand, and on devices of different speed. */
#include "config.h"

#include <check.h>

#include "compiler/placement/figures.h"
#include "compiler/placement/improve.h"
#include "compiler/placement/slice.h"
#include "tests/unit/suite.h"

static arena *a;
static diag_sink *s;

static void begin(void)
{
	a = arena_new();
	s = diag_sink_new(a);
}

static void end(void)
{
	arena_free(a);
}

static int add(cost_builder *b, const char *id, double ms, int64_t nbytes)
{
	cost_op op = { .id = id, .name = id, .ms = ms, .core_ms = -1,
		       .resident_nbytes = nbytes, .colour = -1, .mirror = -1 };
	int v = cost_builder_op(b, &op);
	cost_builder_result(b, v, 1000, 1);
	return v;
}

/* read 1 ms; left 4 and right 5 ms read it; join 2 ms reads both. */
static cost_graph *diamond(void)
{
	cost_builder *b = cost_builder_new(a, s, "diamond");
	int read = add(b, "read", 1, 10), left = add(b, "left", 4, 20);
	int right = add(b, "right", 5, 30), join = add(b, "join", 2, 40);
	cost_builder_edge(b, read, left);
	cost_builder_edge(b, read, right);
	cost_builder_edge(b, left, join);
	cost_builder_edge(b, right, join);
	return cost_builder_finish(b, COST_FORMAT_DNN);
}

static const machine *machine_of(const cost_graph *g, machine_request r)
{
	const machine *m = machine_new(a, s, g, &r);
	ck_assert_ptr_nonnull(m);
	return m;
}

START_TEST(passes)
{
	const machine *m = machine_of(diamond(),
				      (machine_request){ .ndevices = 2,
							 .factor = 1 });
	judge *j = judge_new(a, m);
	const int one[] = { 0, 0, 0, 0 }, two[] = { 0, 1, 0, 0 };
	verdict v = judge_run(j, one, INT64_MAX);
	ck_assert_int_eq(v.makespan, 12000000);
	ck_assert_int_eq(v.ntransfers, 0);
	/* right, with the greater level, goes before left. */
	ck_assert_int_eq(v.begin[2], 1000000);
	ck_assert_int_eq(v.begin[1], 6000000);
	v = judge_run(j, two, INT64_MAX);
	/* 1, move 1, left until 6, move until 7, join until 9. */
	ck_assert_int_eq(v.makespan, 9000000);
	ck_assert_int_eq(v.ntransfers, 2);
	ck_assert_int_eq(v.transfers[0].begin, 1000000);
	ck_assert_int_eq(v.transfers[1].end, 7000000);
	ck_assert_int_eq(v.work[1], 4000000);
	/* Results have lifetimes: device 1 has left's 20 bytes, the copy it
	 * reads and what it makes. */
	ck_assert_int_eq(v.peak[1], 20 + 2000);
	ck_assert_int_eq(judge_run(j, one, 8999999).makespan, INT64_MAX);
	ck_assert_int_eq(judge_run(j, two, 9000000).makespan, 9000000);
}
END_TEST

START_TEST(bounds)
{
	const cost_graph *g = diamond();
	place_bounds b = place_bound(
		machine_of(g, (machine_request){ .ndevices = 2 }));
	ck_assert_int_eq(b.path, 8000000);
	ck_assert_int_eq(b.work, 6000000);
	/* Over a link: read, 1 ms, left, join. */
	ck_assert_int_eq(b.cut, 8000000);
	b = place_bound(machine_of(g, (machine_request){ .ndevices = 1 }));
	ck_assert_int_eq(b.greatest, 12000000);
}
END_TEST

START_TEST(speeds)
{
	const topology_devices kinds[] = { { 1, 1, 0 }, { 1, 2, 1 << 20 } };
	const topology t2 = { .nlevels = 1, .levels = { { "", 0, 0, 1e6 } },
			      .nkinds = 2, .kinds = kinds };
	const machine *m = machine_of(diamond(),
				      (machine_request){ .ndevices = 2,
							 .topology = &t2 });
	ck_assert_int_eq(m->limit[0], INT64_MAX);
	ck_assert_int_eq(m->limit[1], 1 << 20);
	judge *j = judge_new(a, m);
	const int fast[] = { 1, 1, 1, 1 };
	ck_assert_int_eq(judge_run(j, fast, INT64_MAX).makespan, 6000000);
	/* HEFT sees that the second device is the faster one. */
	const place_task *t = place_task_new(a, m, false, (deadline){ 0 });
	const int *place = place_heft(a, t);
	ck_assert_int_le(place_cost_of(t, place).makespan, 6000000);
}
END_TEST

START_TEST(loads)
{
	const machine *m = machine_of(diamond(),
				      (machine_request){ .ndevices = 2 });
	const int two[] = { 0, 1, 0, 0 };
	const int64_t *load = place_loads(a, m, two, 2);
	/* Each pays read's result and left's. */
	ck_assert_int_eq(load[0], 10000000);
	ck_assert_int_eq(load[1], 6000000);
}
END_TEST

START_TEST(slices)
{
	const machine *m = machine_of(diamond(),
				      (machine_request){ .ndevices = 2 });
	place_slices x = place_slice(a, m);
	ck_assert_int_eq(x.n, 2);
	ck_assert_int_eq(x.of[0], 0);
	ck_assert_int_eq(x.of[2], 0); /* the longer way is over right */
	ck_assert_int_eq(x.of[3], 0);
	ck_assert_int_eq(x.of[1], 1);
	ck_assert_int_eq(x.member[1], 2);
}
END_TEST

START_TEST(improves)
{
	const machine *m = machine_of(diamond(),
				      (machine_request){ .ndevices = 2 });
	const place_task *t = place_task_new(a, m, false, (deadline){ 0 });
	int place[] = { 0, 1, 1, 0 };
	int64_t evaluations = 200;
	place_improve(t, place, 0, &evaluations, 1);
	ck_assert_int_eq(place_cost_of(t, place).makespan, 9000000);
	ck_assert_int_le(evaluations, 0);
}
END_TEST

START_TEST(packed)
{
	/* 8 + 5 + 3 = 7 + 6 + 3 = 16 bytes; 8 with 6 leaves two. */
	static const int nbytes[] = { 8, 7, 6, 5, 3, 3 };
	cost_builder *b = cost_builder_new(a, s, "packed");
	for (int i = 0; i < 6; i++)
		add(b, arena_printf(a, "%d", i), 1, nbytes[i]);
	cost_graph *g = cost_builder_finish(b, COST_FORMAT_DNN);
	g->resident_has_results = true;
	const machine *m = machine_of(g, (machine_request){ .ndevices = 2,
							    .memory = 16 });
	const place_task *t = place_task_new(a, m, false, (deadline){ 0 });
	const int *place = place_packed(a, t);
	ck_assert_ptr_nonnull(place);
	ck_assert_int_eq(place_cost_of(t, place).overflow, 0);
	ck_assert_int_eq(place_cost_of(t, place_best(a, t)).overflow, 0);
	m = machine_of(g, (machine_request){ .ndevices = 2, .memory = 15 });
	const deadline never = { 0 };
	ck_assert_ptr_null(place_packed(a, place_task_new(a, m, false, never)));
}
END_TEST

START_TEST(long_chain)
{
	enum { N = 200000 };
	cost_builder *b = cost_builder_new(a, s, "chain");
	for (int i = 0; i < N; i++)
		add(b, arena_printf(a, "%d", i), 0.001, 1);
	for (int i = 1; i < N; i++)
		cost_builder_edge(b, i - 1, i);
	const cost_graph *g = cost_builder_finish(b, COST_FORMAT_DNN);
	const machine *m = machine_of(g, (machine_request){ .ndevices = 4 });
	const place_task *t = place_task_new(a, m, false, (deadline){ 0 });
	/* Nothing here recurses over the graph; a chain belongs together. */
	ck_assert_int_eq(place_cost_of(t, place_pardnn(a, t)).makespan,
			 (int64_t)N * 1000);
	ck_assert_int_eq(place_cost_of(t, place_heft(a, t)).makespan,
			 (int64_t)N * 1000);
}
END_TEST

Suite *suite(void)
{
	Suite *suite = suite_create("placement");
	TCase *c = tcase_create("placement");
	tcase_add_checked_fixture(c, begin, end);
	tcase_add_test(c, passes);
	tcase_add_test(c, bounds);
	tcase_add_test(c, speeds);
	tcase_add_test(c, loads);
	tcase_add_test(c, slices);
	tcase_add_test(c, improves);
	tcase_add_test(c, packed);
	tcase_add_test(c, long_chain);
	suite_add_tcase(suite, c);
	return suite;
}
