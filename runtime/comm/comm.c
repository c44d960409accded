#include "config.h"

#include "runtime/comm/comm.h"

#ifndef HAVE_MPI
const communicator comm_mpi = {
	.name = "mpi",
	.missing = "the communicator 'mpi' is not built in; use --comm threads",
};
#endif

static const communicator nccl = {
	.name = "nccl",
	.missing =
		"the communicator 'nccl' is not built in; use --comm threads",
};

const communicator *comm_row(int i)
{
	static const communicator *const rows[] = { &comm_threads, &comm_mpi,
						    &nccl, NULL };
	return rows[i];
}
