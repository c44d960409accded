#include "config.h"

#include "runtime/comm/mpi_wait.h"

#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "base/jobs.h"

/* Between two looks a rank sleeps for a part of the time that it has waited so
 * far, so that it is late by this part at most, but never longer than a limit,
 * in seconds. */
#define PART 0.125
#define LONGEST 1e-3

/* The number of processors on which any of the ranks may run; all of them are
 * on this machine. */
static int processors_of(MPI_Comm ranks)
{
	cpu_set_t own, any;
	CPU_ZERO(&own);
	if (sched_getaffinity(0, sizeof(own), &own) != 0)
		CPU_ZERO(&own);
	MPI_Allreduce(&own, &any, (int)sizeof(own), MPI_BYTE, MPI_BOR, ranks);
	return CPU_COUNT(&any) > 0 ? CPU_COUNT(&any) : processors(NULL);
}

bool mpi_ranks_are_crowded(void)
{
	MPI_Comm here;
	int n;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
			    MPI_INFO_NULL, &here);
	MPI_Comm_size(here, &n);
	bool crowded = n > processors_of(here);
	MPI_Comm_free(&here);
	return crowded;
}

/* Leaves the processor to others, after so many seconds of waiting. */
static void rest(double waited)
{
	double seconds = PART * waited < LONGEST ? PART * waited : LONGEST;
	struct timespec t = { 0, (long)(seconds * 1e9) };
	nanosleep(&t, NULL);
}

void mpi_wait_all(bool crowded, int n, MPI_Request *requests)
{
	int done;
	if (!crowded) {
		MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
		return;
	}
	MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
	for (double start = clock_seconds(); !done;) {
		rest(clock_seconds() - start);
		MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
	}
}
