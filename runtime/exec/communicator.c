#include "config.h"

#include "runtime/exec/communicator.h"

/* The number of the first transfer that has not ended. */
static int first_open(const comm_progress *x)
{
	int n = 0;
	while (n < x->ntransfers &&
	       x->reached[x->transfers[n].queue] >= 2 * n + 2)
		n++;
	return n;
}

int comm_last(const comm_progress *x)
{
	int n = first_open(x);
	return n > 0 ? x->transfers[n - 1].instr : -1;
}

int64_t comm_place(const comm_progress *x)
{
	int n = first_open(x);
	if (n == x->ntransfers)
		return INT64_MAX;
	return 2 * x->transfers[n].place +
	       (x->reached[x->transfers[n].queue] == 2 * n + 1);
}

#ifndef HAVE_MPI
const communicator comm_mpi = {
	.name = "mpi",
	.missing = "the communicator 'mpi' is not built in; use --comm threads",
};
#endif

#ifndef HAVE_NCCL
const communicator comm_nccl = {
	.name = "nccl",
	.missing =
		"the communicator 'nccl' is not built in; use --comm threads",
};
#endif

enum { NROWS = 3 };

const communicator *comm_row(int i, bool moves)
{
	static const communicator *const rows[2][NROWS + 1] = {
		{ &comm_single_process, NULL, &comm_nccl },
		{ &comm_threads, &comm_mpi, NULL },
	};
	return i < NROWS ? rows[moves][i] : NULL;
}
