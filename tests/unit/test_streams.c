/* Tests: plan */
/* The order of a plan's instructions on two queues is right for random plans,
 * and each wait that is removed makes it wrong. */
#include "config.h"

#include <check.h>

#include "plan/streams.h"
#include "tests/unit/random_plan.h"
#include "tests/unit/suite.h"

static arena *mem;

static void setup(void)
{
	mem = arena_new();
}

static void teardown(void)
{
	arena_free(mem);
}

static plan *some_plan(uint64_t seed)
{
	plan *p = seed % 2 ? random_plan(mem, seed, 12, false) :
			     random_training_plan(mem, seed, 8, NULL);
	return seed % 3 ? p : in_buckets(mem, p, seed / 3);
}

static void expect_right(const plan *p, const stream_schedule *s,
			 uint64_t seed)
{
	stream_fault f;
	ck_assert_msg(streams_check(p, s, &f), "seed %d: fault %d: %d and %d",
		      (int)seed, (int)f.kind, f.first, f.second);
}

START_TEST(schedules_are_right)
{
	int transfers = 0, shared = 0, waits = 0;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		plan *p = some_plan(seed);
		stream_schedule s = plan_streams(mem, p);
		expect_right(p, &s, seed);
		for (int t = 0; t < s.nsteps; t++) {
			const stream_step *x = &s.steps[t];
			transfers += x->on == STREAM_COMMUNICATION;
			shared += x->ninstrs > 1;
			waits += x->nafter;
		}
	}
	/* The campaign has enough cases of both kinds. */
	ck_assert_int_gt(transfers, 400);
	ck_assert_int_gt(shared, 50);
	ck_assert_int_gt(waits, 400);
}
END_TEST

/* No wait is redundant: without it two instructions are unordered. */
START_TEST(missing_waits_are_found)
{
	int planted = 0;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		plan *p = some_plan(seed);
		stream_schedule s = plan_streams(mem, p);
		for (int t = 0; t < s.nsteps; t++) {
			stream_fault f;
			if (s.steps[t].nafter == 0)
				continue;
			s.steps[t].nafter = 0;
			ck_assert(!streams_check(p, &s, &f));
			ck_assert_int_eq(f.kind, STREAM_UNORDERED);
			ck_assert_int_lt(f.first, f.second);
			s.steps[t].nafter = 1;
			planted++;
		}
		expect_right(p, &s, seed);
	}
	ck_assert_int_gt(planted, 100);
}
END_TEST

/* The first step that waits, of some plan; its number. */
static int first_wait(plan **p, stream_schedule *s)
{
	for (uint64_t seed = 1; seed < 100; seed++) {
		*p = some_plan(seed);
		*s = plan_streams(mem, *p);
		for (int t = 0; t < s->nsteps; t++)
			if (s->steps[t].nafter > 0)
				return t;
	}
	ck_abort_msg("no plan has a wait");
}

START_TEST(other_faults_are_found)
{
	stream_schedule s;
	stream_fault f;
	plan *p;
	int t = first_wait(&p, &s);
	stream_step *x = &s.steps[t], kept = *x, *y = &s.steps[*x->after];

	y->marks = false;
	ck_assert(!streams_check(p, &s, &f));
	ck_assert_int_eq(f.kind, STREAM_BAD_WAIT);
	y->marks = true;

	x->after = &t;
	ck_assert(!streams_check(p, &s, &f));
	ck_assert_int_eq(f.kind, STREAM_BAD_WAIT);
	*x = kept;

	x->instrs = y->instrs;
	ck_assert(!streams_check(p, &s, &f));
	ck_assert_int_eq(f.kind, STREAM_NOT_ONCE);
	*x = kept;

	/* The two steps change places. */
	*x = *y;
	*y = kept;
	x->nafter = y->nafter = 0;
	ck_assert(!streams_check(p, &s, &f));
	ck_assert(f.kind == STREAM_REVERSED || f.kind == STREAM_BAD_WAIT);
	kept = *y;
	*y = *x;
	*x = kept;

	s.nsteps--;
	ck_assert(!streams_check(p, &s, &f));
	ck_assert_int_eq(f.kind, STREAM_NOT_ONCE);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("streams");
	TCase *tc = tcase_create("streams");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, schedules_are_right);
	tcase_add_test(tc, missing_waits_are_found);
	tcase_add_test(tc, other_faults_are_found);
	suite_add_tcase(s, tc);
	return s;
}
