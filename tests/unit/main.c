/* The main() of all unit tests: exit status 1 where one failed.  CK_VERBOSITY,
 * CK_RUN_CASE and the other variables of Check apply. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/suite.h"

static int setting(const char *name, int otherwise)
{
	const char *s = getenv(name);
	return s && *s ? abs(atoi(s)) : otherwise;
}

int sample_every(void)
{
	int n = setting("SAMPLE", 1);
	return n > 1 ? n : 1;
}

int sample_from(void)
{
	return setting("SAMPLE_FROM", 0);
}

int cases_asked(int n)
{
	return setting("CASES", n);
}

int cases_from(void)
{
	return setting("CASES_FROM", 0);
}

bool sampled(int seed)
{
	uint32_t mixed = (uint32_t)seed * UINT32_C(2654435761) >> 8;
	uint32_t every = (uint32_t)sample_every();
	return (mixed + (uint32_t)sample_from()) % every == 0;
}

int at_least(int n)
{
	int every = sample_every();
	if (every == 1)
		return n;
	return n / every < 8 ? -1 : n / every / 4;
}

/* A limit against tests that hang; none is about time. */
int main(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "900", 0);
	SRunner *r = srunner_create(suite());
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
