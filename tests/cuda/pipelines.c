/* Random plans of several stages as files: pipelines SEED SCHEDULE PLAN, of a
 * schedule's name; prints the number of workers.  Of every third seed the host
 * computes the kernels. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/codegen/codegen.h"
#include "tests/unit/random_pipeline.h"

static bool find(const char *name, pipeline_schedule *kind)
{
	for (int k = SCHEDULE_GPIPE; k <= SCHEDULE_ZB; k++) {
		*kind = (pipeline_schedule)k;
		if (!strcmp(schedule_name(*kind), name))
			return true;
	}
	return false;
}

static char **arguments;

/* Assertions of the maker are those of a test. */
START_TEST(make)
{
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	uint64_t seed = strtoull(arguments[1], NULL, 10);
	pipeline_schedule kind;
	ck_assert(find(arguments[2], &kind));
	plan_pipeline *p = random_pipeline(a, seed, kind, s);
	diag_print(s, stderr, false);
	ck_assert_ptr_nonnull(p);
	for (int k = 0; seed % 3 && k < p->stages[0].nkernels; k++)
		codegen_sources(a, &p->stages[0].kernels[k]);
	ck_assert(pipeline_write(p, arguments[3]));
	printf("%d\n", pipeline_first(p, p->nstages));
	arena_free(a);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc != 4) {
		fputs("usage: pipelines SEED SCHEDULE PLAN\n", stderr);
		return 2;
	}
	arguments = argv;
	setenv("CK_DEFAULT_TIMEOUT", "60", 0);
	Suite *s = suite_create("pipelines");
	TCase *t = tcase_create("pipelines");
	tcase_add_test(t, make);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_set_fork_status(r, CK_NOFORK);
	srunner_run_all(r, CK_SILENT);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed > 0;
}
