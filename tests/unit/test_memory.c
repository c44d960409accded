/* Tests: base */
/* base/memory: calls that end early, and what they give back. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "tests/unit/suite.h"

/* An allocator that counts, and fails from call number `fails' on. */
typedef struct counter {
	int calls, live, fails;
} counter;

static void *count(void *user, size_t n)
{
	counter *c = user;
	if (c->calls++ == c->fails)
		return NULL;
	c->live++;
	return malloc(n);
}

static void uncount(void *user, void *p)
{
	((counter *)user)->live--;
	free(p);
}

static void close_one(void *n)
{
	++*(int *)n;
}

typedef struct work {
	arena *kept;
	int closed, done;
} work;

/* Takes memory of all kinds, arenas within arenas of the caller's. */
static void work_hard(void *arg)
{
	work *w = arg;
	memory_guard g;
	char *chunk = memory_malloc(100);
	memory_guard_on(&g, close_one, &w->closed);
	arena *tmp = arena_new();
	w->kept = arena_new();
	memset(arena_alloc(w->kept, 100000), 1, 100000);
	json_t *all = json_array();
	for (int i = 0; i < 300; i++)
		json_array_append_new(all, json_pack("{s:i, s:[s]}", "i", i,
						     "x", "y"));
	chunk = memory_realloc(chunk, 1000);
	arena_printf(tmp, "%d", (int)json_array_size(all));
	ck_assert_str_eq(json_text(tmp, json_array_get(all, 7), 0),
			 "{\"i\": 7, \"x\": [\"y\"]}");
	json_decref(all);
	arena_free(tmp);
	memory_guard_off(&g);
	memory_free(chunk);
	w->done++;
}

/* Each allocation fails once: nothing is left, and the guard was called. */
START_TEST(each_failure_gives_all_back)
{
	for (int i = 0;; i++) {
		counter c = { .fails = i };
		memory m = { .alloc = count, .free = uncount, .user = &c };
		work w = { 0 };
		memory_end end = memory_call(&m, work_hard, &w);
		ck_assert_ptr_null(memory_current());
		if (end == MEMORY_DONE) {
			ck_assert_int_gt(i, 5);
			ck_assert_int_eq(w.done, 1);
			ck_assert_int_eq(w.closed, 0);
			arena_free(w.kept);
			ck_assert_int_eq(c.live, 0);
			ck_assert_uint_eq(atomic_load(&m.used), 0);
			break;
		}
		ck_assert_int_eq(end, MEMORY_EXHAUSTED);
		ck_assert_int_eq(w.closed, i > 0);
		ck_assert_int_eq(c.live, 0);
		ck_assert_uint_eq(atomic_load(&m.used), 0);
	}
}
END_TEST

START_TEST(a_quota_ends_a_call)
{
	memory m = { .quota = 50000 };
	work w = { 0 };
	ck_assert_int_eq(memory_call(&m, work_hard, &w), MEMORY_QUOTA);
	ck_assert_uint_eq(atomic_load(&m.used), 0);
	m.quota = 0;
	ck_assert_int_eq(memory_call(&m, work_hard, &w), MEMORY_DONE);
	ck_assert_uint_gt(atomic_load(&m.used), 100000);
	ck_assert_uint_ge(atomic_load(&m.peak), atomic_load(&m.used));
	arena_free(w.kept);
	ck_assert_uint_eq(atomic_load(&m.used), 0);
}
END_TEST

typedef struct nest {
	memory *outer, *inner;
	memory_end end;
	work w;
	arena *own;
} nest;

static void call_inner(void *arg)
{
	nest *n = arg;
	n->own = arena_new();
	n->end = memory_call(n->inner, work_hard, &n->w);
	ck_assert_ptr_eq(memory_current(), n->outer);
	arena_free(n->own);
}

/* A call of another memory, or of the same, that fails leaves the outer one as
 * it is. */
START_TEST(calls_nest)
{
	memory small = { .quota = 1000 }, m = { 0 };
	nest n = { .outer = &m, .inner = &small };
	ck_assert_int_eq(memory_call(&m, call_inner, &n), MEMORY_DONE);
	ck_assert_int_eq(n.end, MEMORY_QUOTA);
	n = (nest){ .outer = &small, .inner = &small };
	ck_assert_int_eq(memory_call(&small, call_inner, &n), MEMORY_DONE);
	ck_assert_int_eq(n.end, MEMORY_QUOTA);
	ck_assert_uint_eq(atomic_load(&small.used), 0);
	ck_assert_uint_eq(atomic_load(&m.used), 0);
}
END_TEST

static void ask_deadline(void *stop)
{
	ck_assert(!deadline_is_over((deadline){ 0 }));
	atomic_store((atomic_bool *)stop, true);
	deadline_is_over((deadline){ 0 });
	ck_abort_msg("it went on");
}

START_TEST(a_caller_may_ask_to_stop)
{
	atomic_bool stop = false;
	memory m = { .stopped = &stop };
	ck_assert_int_eq(memory_call(&m, ask_deadline, &stop), MEMORY_STOPPED);
}
END_TEST

START_TEST(deadlines)
{
	ck_assert(!deadline_is_over(deadline_in(0)));
	ck_assert(!deadline_is_over(deadline_in(1000)));
	ck_assert(deadline_is_over((deadline){ clock_seconds() - 1 }));
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("memory_call");
	TCase *c = tcase_create("memory");
	tcase_add_test(c, each_failure_gives_all_back);
	tcase_add_test(c, a_quota_ends_a_call);
	tcase_add_test(c, calls_nest);
	tcase_add_test(c, a_caller_may_ask_to_stop);
	tcase_add_test(c, deadlines);
	suite_add_tcase(s, c);
	return s;
}
