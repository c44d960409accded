/* Fuzz target: profiles.  One that is read survives its file, and one that is
 * added to itself has the same times of twice the samples. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "plan/profile.h"
#include "tests/fuzz/fuzz.h"

static const profile *read_text(arena *a, const char *text, size_t size,
				int times)
{
	diag_sink *s = diag_sink_new(a);
	profile *p = profile_new(a);
	bool good = true;
	for (int i = 0; good && i < times; i++)
		good = profile_parse(p, s, "profile", text, size);
	fuzz_print(s);
	FUZZ_CHECK(good == (diag_errors(s) == 0));
	return good ? p : NULL;
}

static void check_twice(const profile_time *x, const profile_time *y)
{
	int64_t n = 2 * x->samples;
	FUZZ_CHECK(y->samples == (n < PROFILE_MOST_SAMPLES
					  ? n : PROFILE_MOST_SAMPLES));
	FUZZ_CHECK(fabs(y->seconds / x->seconds - 1) < 1e-4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena *a = arena_new();
	const profile *p = read_text(a, (const char *)data, size, 1);
	const char *text = p ? profile_text(a, p) : NULL;
	const profile *again = p ? read_text(a, text, strlen(text), 1) : NULL;
	const profile *twice = p ? read_text(a, text, strlen(text), 2) : NULL;
	FUZZ_CHECK(!p || (again && twice));
	if (p) {
		FUZZ_CHECK(!strcmp(profile_text(a, again), text));
		FUZZ_CHECK(twice->kernels.n == p->kernels.n &&
			   twice->transfers.n == p->transfers.n &&
			   twice->runs.n == p->runs.n);
		for (int i = 0; i < p->kernels.n; i++)
			check_twice(&p->kernels.at[i].time,
				    &twice->kernels.at[i].time);
	}
	arena_free(a);
	return 0;
}
