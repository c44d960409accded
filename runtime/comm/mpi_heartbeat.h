/* Heartbeats between processes of MPI.
 *
 * A thread of each tells the next rank twice a second that it lives, and where
 * it is; the last rank tells the first.  A rank that does not hear from the one
 * before it for too long reports that and ends its process, upon which mpirun
 * or Slurm ends the others.  A rank whose device is the host's processors
 * notices by itself that it stands still: inside a step, neither computing nor
 * waiting for others. */
#ifndef TDL_RUNTIME_COMM_MPI_HEARTBEAT_H
#define TDL_RUNTIME_COMM_MPI_HEARTBEAT_H

#include "runtime/exec/communicator.h"

typedef struct beat beat;

/* Starts the threads of all ranks, which call it alike; needs
 * MPI_THREAD_MULTIPLE.  patience: seconds.  *to is NULL where there is but one
 * rank; false, with all ranks, where one of them has no memory or no thread. */
bool beat_open(double patience, beat **to);

/* A collective call of all ranks; waits until those that monitor each other are
 * done. */
void beat_close(beat *b);

/* From now on *x is the progress of a device in a plan; NULL, NULL: not any
 * more.  b may be NULL here and below. */
void beat_watch(beat *b, const plan *p, const comm_progress *x);

/* A step of a plan begins; NULL: it ends. */
void beat_step(beat *b, const plan *p);

/* A transfer has ended. */
void beat_pass(beat *b, int instr);

/* This rank begins to wait for others, or is done with that. */
void beat_wait(beat *b, bool waits);

#endif
