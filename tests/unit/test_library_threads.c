/* Tests: libtdl base */
/* tdl.h: two contexts in two threads, which a build with ThreadSanitizer
 * watches (tests/races.sh). */
#include "config.h"

#include <check.h>
#include <pthread.h>

#include "tests/unit/library_calls.h"
#include "tests/unit/suite.h"

/* All functions, in a context of the thread's own. */
static void *work(void *arg)
{
	library_world w = library_world_new(NULL);
	bool *good = arg;
	*good = true;
	for (int i = 0; i < library_ncalls; i++)
		*good &= library_calls[i].run(&w);
	library_world_end(&w);
	return NULL;
}

START_TEST(contexts_know_nothing_of_each_other)
{
	pthread_t threads[2];
	bool good[2];
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, work,
						&good[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	ck_assert(good[0] && good[1]);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("library_threads");
	TCase *c = tcase_create("threads");
	tcase_set_timeout(c, 600);
	tcase_add_test(c, contexts_know_nothing_of_each_other);
	suite_add_tcase(s, c);
	return s;
}
