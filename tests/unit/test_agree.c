/* Tests: runtime/run */
/* Processes that compare what they were given: alone, alike, and with one that
 * has something else. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "runtime/run/agree.h"
#include "tests/unit/suite.h"

/* The number of a meeting: all digests in one, of the version, of the plan. */
enum { ALL_IN_ONE, VERSION_OF, PLAN_OF };

typedef struct others {
	int n; /* processes, with this one */
	int odd, at; /* that has something else, and the meeting in which */
	uint64_t has; /* of that, 0 for what cannot be read */
	int meetings;
} others;

static uint64_t *meet(void *run, arena *a, uint64_t x, int *n)
{
	others *o = run;
	int meeting = o->meetings++;
	*n = o->n;
	if (o->n == 1)
		return NULL;
	uint64_t *all = ARENA_ARRAY(a, uint64_t, o->n);
	for (int r = 0; r < o->n; r++)
		all[r] = x;
	if (o->odd >= 0 && meeting == ALL_IN_ONE)
		all[o->odd] = ~x;
	if (o->odd >= 0 && meeting == o->at)
		all[o->odd] = o->has;
	return all;
}

/* Whether they agree; *f says so, too. */
static bool agreed(others *o, communicator c, failure *f)
{
	plan_pipeline p = { .digest = 7 };
	options given = { .plan = "x.plan" };
	session s = { .o = &given, .pipeline = &p, .run = o };
	bool good = agree(&s, &c);
	*f = s.f;
	ck_assert_int_eq(f->status, good ? CLI_OK : CLI_INPUT);
	return good;
}

START_TEST(test_alone)
{
	others one = { .n = 1, .odd = -1 };
	failure f;
	ck_assert(agreed(&one, (communicator){ .gather = meet }, &f));
	ck_assert_int_eq(one.meetings, 1);
	ck_assert(agreed(&one, (communicator){ .gather = NULL }, &f));
	ck_assert_int_eq(one.meetings, 1);
}
END_TEST

START_TEST(test_alike)
{
	others same = { .n = 3, .odd = -1 };
	failure f;
	ck_assert(agreed(&same, (communicator){ .gather = meet }, &f));
	ck_assert_int_eq(same.meetings, 1);
}
END_TEST

START_TEST(test_different)
{
	static const struct {
		int odd, at;
		uint64_t has;
		const char *said;
	} all[] = {
		{ 0, PLAN_OF, 9, "rank 0 has another plan" },
		{ 2, PLAN_OF, 0, "rank 2 has another plan, or none that can be "
				 "read" },
		{ 1, VERSION_OF, 9, "rank 1 has another version of tdlrun" },
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		others o = { 3, all[i].odd, all[i].at, all[i].has, 0 };
		failure f;
		ck_assert(!agreed(&o, (communicator){ .gather = meet }, &f));
		const char *end = strrchr(f.text, ':');
		ck_assert_ptr_nonnull(end);
		ck_assert_str_eq(end + 2, all[i].said);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("agree");
	TCase *t = tcase_create("agree");
	tcase_add_test(t, test_alone);
	tcase_add_test(t, test_alike);
	tcase_add_test(t, test_different);
	suite_add_tcase(s, t);
	return s;
}
