#include "config.h"

#include "base/clock.h"

#include <time.h>

#include "base/memory.h"

double clock_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double clock_thread_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

deadline deadline_in(double seconds)
{
	return (deadline){ seconds > 0 ? clock_seconds() + seconds : 0 };
}

bool deadline_is_over(deadline d)
{
	memory_poll();
	return d.at > 0 && clock_seconds() >= d.at;
}
