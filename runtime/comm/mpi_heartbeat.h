/* Heartbeats between processes of MPI.
 *
 * A thread of each tells the next rank twice a second that it lives, and where
 * it is; the last rank tells the first.  A rank that does not hear from the one
 * before it for too long reports that and ends its process, upon which mpirun
 * or Slurm ends the others.  A rank whose device is the host's processors
 * reports of itself that it stands still: inside a step, neither computing
 * nor waiting for others.  Where all ranks wait for others, for too long, that
 * goes round with the messages, and the rank that is furthest behind reports
 * it: something that was sent has been lost. */
#ifndef TDL_RUNTIME_COMM_MPI_HEARTBEAT_H
#define TDL_RUNTIME_COMM_MPI_HEARTBEAT_H

#include "runtime/exec/communicator.h"

typedef struct mpi_heartbeat mpi_heartbeat;

/* Starts the threads of all ranks, which call it alike; needs
 * MPI_THREAD_MULTIPLE.  timeout: seconds.  *to is NULL where there is but one
 * rank; false, with all ranks, where one of them has no memory or no thread. */
bool mpi_heartbeat_open(double timeout, mpi_heartbeat **to);

/* A collective call of all ranks; waits until those that monitor each other are
 * done. */
void mpi_heartbeat_close(mpi_heartbeat *b);

/* From now on *x is the progress of a device in a plan; NULL, NULL: not any
 * more.  b may be NULL here and below. */
void mpi_heartbeat_watch(mpi_heartbeat *b, const plan_pipeline *p,
			 const comm_progress *x);

/* A step of a plan begins; NULL: it ends. */
void mpi_heartbeat_step(mpi_heartbeat *b, const plan_pipeline *p);

/* This rank begins to wait for a transfer, of which so many bytes are on their
 * way to it or from it; instr -1: for all others, at the end of a step. */
void mpi_heartbeat_wait(mpi_heartbeat *b, int instr, int64_t nbytes);

/* It is done with that. */
void mpi_heartbeat_go_on(mpi_heartbeat *b);

#endif
