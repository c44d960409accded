/* Fuzz target: plans.  Plans that the reader and the checker accept can be
 * written, turned into a plan for one worker, and run. */
#include "config.h"

#include <string.h>

#include "plan/plan.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/run.h"

enum { MAX_WORKERS = 64 }; /* whose regions are checked */

/* A plan that is written is read as the same. */
static void check_text(arena *a, const plan *p)
{
	size_t n, again;
	diag_sink *s = diag_sink_new(a);
	const char *text = plan_text(a, p, "fuzz.plan", &n);
	plan *q = plan_parse(a, s, "fuzz.plan", text, n);
	if (!q)
		diag_print(s, stderr, false);
	FUZZ_CHECK(q);
	const char *copy = plan_text(a, q, "fuzz.plan", &again);
	FUZZ_CHECK(n == again && !memcmp(text, copy, n));
}

static bool workers_good(arena *a, const plan *p)
{
	diag_sink *s = diag_sink_new(a);
	int n = mesh_workers(&p->mesh);
	bool good = true;
	for (int w = 0; w < n && w < MAX_WORKERS && good; w++)
		good = plan_check_worker(p, w, s, "fuzz.plan");
	fuzz_print(s);
	return good && n <= MAX_WORKERS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	plan *p = plan_parse(a, s, "fuzz.plan", (const char *)data, size);
	fuzz_print(s);
	FUZZ_CHECK(!p == (diag_errors(s) > 0));
	if (p) {
		check_text(a, p);
		if (workers_good(a, p)) {
			plan_one_device(a, p);
			if (run_is_small(p))
				run_plan(p);
		}
	}
	arena_free(a);
	return 0;
}
