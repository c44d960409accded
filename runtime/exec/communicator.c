#include "config.h"

#include "runtime/exec/communicator.h"

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
