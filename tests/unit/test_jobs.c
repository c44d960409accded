/* Tests: base */
/* base/jobs: each part is done once, what they leave is the caller's, and one
 * that ends early ends all. */
#include "config.h"

#include <check.h>
#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/jobs.h"
#include "base/memory.h"
#include "tests/unit/suite.h"

enum { MANY = 40, SMALL = 1000, LARGE = 1 << 20 };

typedef struct work {
	int threads;
	arena *left[MANY];
	char *text[MANY];
	atomic_int done[MANY];
	int told;
	bool in_order;
	locale_t locale;
	int large;	   /* a part that takes much; -1 */
	atomic_bool *stop; /* set when told of part `stops' */
	int stops;
} work;

static void do_part(void *arg, int i)
{
	work *w = arg;
	arena *tmp = arena_new();
	w->left[i] = arena_new();
	memset(arena_alloc(tmp, SMALL), i, SMALL);
	w->text[i] = arena_printf(w->left[i], "part %d", i);
	if (i == w->large)
		arena_alloc(tmp, LARGE);
	memory_poll();
	if (uselocale(NULL) == w->locale)
		atomic_fetch_add(&w->done[i], 1);
	arena_free(tmp);
}

static void hear(void *arg, int i)
{
	work *w = arg;
	w->in_order &= w->told++ == i;
	if (i == w->stops)
		atomic_store(w->stop, true);
	memory_poll();
}

static void run(void *arg)
{
	work *w = arg;
	const job_set j = { MANY, do_part, hear, w };
	arena *a = arena_new();
	jobs_run(&j, w->threads);
	for (int i = 0; i < MANY; i++)
		arena_join(a, w->left[i]);
	for (int i = 0; i < MANY; i++) {
		char text[20];
		snprintf(text, sizeof(text), "part %d", i);
		ck_assert_str_eq(w->text[i], text);
		ck_assert_int_eq(atomic_load(&w->done[i]), 1);
	}
	ck_assert_int_eq(w->told, MANY);
	ck_assert(w->in_order);
	arena_free(a);
}

static work work_of(int threads)
{
	return (work){ .threads = threads, .in_order = true, .large = -1,
		       .stops = -1, .locale = uselocale(NULL) };
}

START_TEST(each_part_is_done_once)
{
	work w = work_of(_i);
	memory m = { 0 };
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	locale_t had = uselocale(plain);
	w.locale = plain;
	ck_assert_int_eq(memory_call(&m, run, &w), MEMORY_DONE);
	ck_assert_uint_eq(atomic_load(&m.used), 0);
	uselocale(had);
	freelocale(plain);
}
END_TEST

START_TEST(no_memory_is_needed)
{
	work w = work_of(_i);
	run(&w);
}
END_TEST

START_TEST(one_without_memory_ends_all)
{
	work w = work_of(_i);
	memory m = { .quota = LARGE };
	w.large = 7;
	ck_assert_int_eq(memory_call(&m, run, &w), MEMORY_QUOTA);
	ck_assert_uint_eq(atomic_load(&m.used), 0);
	ck_assert_ptr_null(m.items);
	ck_assert_int_eq(atomic_load(&w.done[7]), 0);
	/* The memory is as good as before. */
	w = work_of(_i);
	ck_assert_int_eq(memory_call(&m, run, &w), MEMORY_DONE);
}
END_TEST

START_TEST(who_is_told_may_stop_it)
{
	work w = work_of(_i);
	atomic_bool stop = false;
	memory m = { .stopped = &stop };
	w.stop = &stop;
	w.stops = 3;
	ck_assert_int_eq(memory_call(&m, run, &w), MEMORY_STOPPED);
	ck_assert_uint_eq(atomic_load(&m.used), 0);
	ck_assert_ptr_null(m.items);
	ck_assert_int_eq(w.told, 4);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("jobs");
	TCase *c = tcase_create("jobs");
	tcase_add_loop_test(c, each_part_is_done_once, 1, 6);
	tcase_add_loop_test(c, no_memory_is_needed, 1, 4);
	tcase_add_loop_test(c, one_without_memory_ends_all, 1, 6);
	tcase_add_loop_test(c, who_is_told_may_stop_it, 1, 6);
	suite_add_tcase(s, c);
	return s;
}
