/* Tests: compiler/lower plan */
/* Reductions in buckets: programs with them compute what those without do, from
 * memory that is not in use by anything else; the limits of memory and of bytes
 * hold, and a bucket has one latency. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/lower/bucket.h"
#include "compiler/lower/cost.h"
#include "plan/check.h"
#include "plan/streams.h"
#include "tests/unit/lowering.h"
#include "tests/unit/plan_machine.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/random_plan.h"
#include "tests/unit/suite.h"

static plan *some_plan(arena *a, int seed)
{
	uint64_t s = 70000 + (uint64_t)seed;
	return seed % 2 ? random_plan(a, s, 14, false) :
			  random_training_plan(a, s, 14, NULL);
}

static void expect_valid(arena *a, const plan *p, int seed)
{
	diag_sink *s = diag_sink_new(a);
	bool ok = plan_check(p, s, "plan");
	for (int w = 0; ok && w < mesh_workers(&p->mesh); w++)
		ok = plan_check_worker(p, w, s, "plan");
	if (!ok)
		diag_print(s, stderr, false);
	ck_assert_msg(ok, "seed %d", seed);
	stream_schedule streams = plan_streams(a, p);
	stream_fault f;
	ck_assert_msg(streams_check(p, &streams, &f), "seed %d: %d, %d and %d",
		      seed, (int)f.kind, f.first, f.second);
}

/* Outputs and states, bit for bit. */
static void expect_same(arena *a, const machine *x, const machine *y, int seed)
{
	for (int t = 0; t < x->p->ntensors; t++) {
		const plan_tensor *of = &x->p->tensors[t];
		if (!of->output && of->role != PLAN_STATE)
			continue;
		ck_assert_msg(!memcmp(machine_tensor(a, x, t),
				      machine_tensor(a, y, t),
				      (size_t)plan_tensor_nbytes(of)),
			      "seed %d, tensor '%s'", seed, of->name);
	}
}

/* The largest bucket, in bytes of partial results. */
static int64_t largest(const plan *p)
{
	int64_t most = 0;
	for (int i = 0, end; i < p->ninstrs; i = end) {
		int64_t bytes = 0;
		end = plan_phase_end(p, i);
		for (int j = i; j < end && p->program[i].bucket > 0; j++)
			if (p->program[j].op == PLAN_COMBINE)
				bytes += p->buffers[p->program[j].from].nbytes;
		most = bytes > most ? bytes : most;
	}
	return most;
}

START_TEST(buckets_compute_the_same)
{
	int members = 0, reductions;
	for (int seed = 0; seed < 1000; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		plan *p = some_plan(a, seed);
		plan *q = in_buckets(a, p, (uint64_t)seed);
		if (plan_buckets(q, &reductions) > 0) {
			machine x = machine_new(a, p), y = machine_new(a, q);
			expect_valid(a, q, seed);
			for (int step = 0; step < 2; step++) {
				machine_run(&x);
				machine_run(&y);
				expect_same(a, &x, &y, seed);
			}
			ck_assert_int_eq(y.received, x.received);
			ck_assert_int_eq(q->communication_bytes,
					 p->communication_bytes);
			members += reductions;
		}
		arena_free(a);
	}
	ck_assert_int_gt(members, at_least(200));
}
END_TEST

START_TEST(limits_hold)
{
	int fitted = 0, reductions;
	for (int seed = 0; seed < 1000; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		plan *p = some_plan(a, seed);
		layout_classes *f = layout_classes_new(a, &p->mesh);
		int64_t most = p->arena_bytes + 64 * (seed % 4);
		bucket_options o = { 1 << 20, topology_preset(0), most };
		plan *q = bucket_plan(a, p, f, &o);
		ck_assert_int_le(q->arena_bytes, most);
		fitted += plan_buckets(q, &reductions) > 0;
		o = (bucket_options){ 512, topology_preset(0), PLAN_MAX_BYTES };
		ck_assert_int_le(largest(bucket_plan(a, p, f, &o)), 512);
		topology small = *topology_preset(0);
		small.memory = most;
		o = (bucket_options){ 1 << 20, &small, 0 };
		ck_assert_int_le(bucket_plan(a, p, f, &o)->arena_bytes, most);
		arena_free(a);
	}
	ck_assert_int_gt(fitted, at_least(40));
}
END_TEST

/* The seconds that buckets as of in_buckets() are said to save of a program,
 * before its buffers have places. */
static double might_save(arena *a, const plan *p, const topology *t, int seed)
{
	const bucket_options o = { random_bucket_bytes((uint64_t)seed), t, 0 };
	plan draft = *p;
	layout_classes *f = layout_classes_new(a, &p->mesh);
	draft.buffers = ARENA_COPY(a, p->buffers, p->nbuffers);
	for (int i = 0; i < p->nbuffers; i++)
		draft.buffers[i].offset = 0;
	return round(bucket_might_save(instr_times_new(a, f, t), &draft, &o));
}

/* On a machine that waits for nothing but latencies a program takes one for
 * each step of its transfers' rings, and one for a bucket's. */
START_TEST(one_latency)
{
	topology t = *topology_preset(0);
	int faster = 0, reductions;
	t.overlap = false;
	t.levels[0].bandwidth = t.bandwidth = 1e30;
	t.levels[0].latency = 1;
	t.launch = 0;
	for (int i = 0; i < DT_COUNT; i++)
		t.flops[i] = 1e30;
	for (int seed = 0; seed < 400; seed++) {
		arena *a = arena_new();
		plan *p = some_plan(a, seed);
		plan *q = in_buckets(a, p, (uint64_t)seed);
		double before = round(lower_seconds(p, &t));
		double after = round(lower_seconds(q, &t)), saved = 0;
		for (int i = 0, end; i < q->ninstrs; i = end) {
			end = plan_phase_end(q, i);
			plan one = *q;
			one.ninstrs = 1;
			one.program = &q->program[i];
			one.loop = (plan_loop){ 0 };
			if (end > i + 1)
				saved += (end - i - 1) *
					 round(lower_seconds(&one, &t));
		}
		ck_assert_msg(before - saved == after, "seed %d: %g %g %g",
			      seed, before, saved, after);
		ck_assert_msg(might_save(a, p, &t, seed) == saved, "seed %d",
			      seed);
		faster += plan_buckets(q, &reductions) > 0;
		arena_free(a);
	}
	ck_assert_int_gt(faster, 20);
}
END_TEST

static void expect_fault(arena *a, const plan *p, const char *message)
{
	char *text = NULL;
	size_t n;
	diag_sink *s = diag_sink_new(a);
	ck_assert(!plan_check(p, s, "plan"));
	FILE *f = open_memstream(&text, &n);
	diag_print(s, f, false);
	fclose(f);
	ck_assert_msg(strstr(text, message) != NULL, "not '%s' but: %s",
		      message, text);
	free(text);
}

/* A plan's first bucket with several members, of which some are moves; *end is
 * that of its combines. */
static plan *spread_bucket(arena *a, int *begin, int *end)
{
	for (int seed = 0; seed < 1000; seed++) {
		plan *p = in_buckets(a, some_plan(a, seed), 0);
		for (int i = 0; i < p->ninstrs; i = plan_bucket_end(p, i)) {
			*begin = i;
			*end = plan_phase_end(p, i);
			if (*end > i + 1 && plan_bucket_end(p, i) > *end)
				return p;
		}
	}
	ck_abort_msg("no plan has such a bucket");
}

START_TEST(faults_are_found)
{
	arena *a = arena_new();
	int begin, end;
	plan *p = spread_bucket(a, &begin, &end);
	plan_instr *in = &p->program[begin], *move = &p->program[end];
	expect_valid(a, p, 0);
	in->collective = COLL_LOCAL;
	expect_fault(a, p, "it is not combined as the others");
	in->collective = COLL_REDUCE_SCATTER;
	move->collective = COLL_LOCAL;
	expect_fault(a, p, "it does not spread what its bucket combines");
	move->collective = COLL_ALL_GATHER;
	in->bucket = 0;
	expect_fault(a, p, "it does not spread what its bucket combines");
	in->bucket = move->bucket;
	for (plan_instr *x = move; x->bucket == in->bucket; x++)
		x->bucket = p->ninstrs;
	expect_fault(a, p, "a bucket does not begin with a combine");
	arena_free(a);
}
END_TEST

/* Each member's result is in use from the beginning of the bucket on. */
START_TEST(members_do_not_overlap)
{
	arena *a = arena_new();
	int begin, end;
	plan *p = spread_bucket(a, &begin, &end);
	ck_assert_int_ge(end - begin, 2);
	const plan_instr *first = &p->program[begin];
	plan_buffer *second = &p->buffers[p->program[end - 1].to];
	int64_t offset = second->offset;
	second->offset = p->buffers[first->from].offset;
	expect_fault(a, p, "it is overwritten while it is in use");
	second->offset = offset;
	expect_valid(a, p, 0);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("bucket");
	TCase *c = tcase_create("buckets");
	tcase_add_test(c, buckets_compute_the_same);
	tcase_add_test(c, limits_hold);
	tcase_add_test(c, one_latency);
	tcase_add_test(c, faults_are_found);
	tcase_add_test(c, members_do_not_overlap);
	suite_add_tcase(s, c);
	return s;
}
