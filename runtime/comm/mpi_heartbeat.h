/* Heartbeats between processes of MPI.
 *
 * A thread of each rank tells the next rank twice a second that it lives, and
 * how far it is; the last rank tells the first.  A rank that does not hear from
 * the one before it for too long reports that and ends its process; mpirun or
 * Slurm then end the others.  A rank whose device is the host's processors
 * reports itself if it stands still: inside a step, neither computing nor
 * waiting for others.  If all ranks wait for others for too long, this travels
 * round with the messages, and the rank that is furthest behind reports it:
 * something that was sent has been lost. */
#ifndef TDL_RUNTIME_COMM_MPI_HEARTBEAT_H
#define TDL_RUNTIME_COMM_MPI_HEARTBEAT_H

#include "runtime/exec/communicator.h"

typedef struct mpi_heartbeat mpi_heartbeat;

/* Starts the threads of all ranks.  Collective; needs MPI_THREAD_MULTIPLE.
 * timeout: seconds. *to is NULL if there is only one rank.  Returns false on
 * all ranks if one of them has no memory or no thread. */
bool mpi_heartbeat_open(double timeout, mpi_heartbeat **to);

/* Stops the threads.  Collective; waits until the ranks that monitor each other
 * are done. */
void mpi_heartbeat_close(mpi_heartbeat *b);

/* Makes *x the progress of a device in a plan; NULL, NULL: no longer.  Here and
 * below b may be NULL. */
void mpi_heartbeat_watch(mpi_heartbeat *b, const plan_pipeline *p,
			 const comm_progress *x);

/* Notes that a step of a plan begins; NULL: that it ends. */
void mpi_heartbeat_step(mpi_heartbeat *b, const plan_pipeline *p);

/* Notes that this rank begins to wait for a transfer with nbytes under way to
 * it or from it; instr -1: for all others, at the end of a step. */
void mpi_heartbeat_wait(mpi_heartbeat *b, int instr, int64_t nbytes);

/* Notes that the wait is over. */
void mpi_heartbeat_go_on(mpi_heartbeat *b);

#endif
