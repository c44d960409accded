/* Waiting for requests of Open MPI. */
#ifndef TDL_RUNTIME_COMM_MPI_WAIT_H
#define TDL_RUNTIME_COMM_MPI_WAIT_H

#include <mpi.h>
#include <stdbool.h>

/* Whether the ranks on this machine outnumber the processors on which they may
 * run.  Collective. */
bool mpi_ranks_are_crowded(void);

/* Waits until all requests are done, and sets them to MPI_REQUEST_NULL.  Open
 * MPI polls as long as that takes.  Crowded ranks sleep between two looks, so
 * that they leave the processors to the ranks for which they wait. */
void mpi_wait_all(bool crowded, int n, MPI_Request *requests);

#endif
