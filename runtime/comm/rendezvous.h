/* Rendezvous: processes of a run that no launcher connects find each other
 * through files in a folder that all of them reach.
 *
 * Each has a heartbeat of its own there, and reads the others'.  Files of a run
 * that was killed do no harm: a process that joins knows the others by random
 * numbers that they have drawn, and that rank 0 has read and repeated.  All
 * meetings are of all processes, in one order.
 *
 * A thread tells the others that this process lives, and looks after them: when
 * one has failed, or is not heard of, or stands still while others wait for it,
 * it ends this process, and the lowest rank that lives says why. */
#ifndef TDL_RUNTIME_COMM_RENDEZVOUS_H
#define TDL_RUNTIME_COMM_RENDEZVOUS_H

#include "runtime/exec/communicator.h"

/* Not in the table of rows: comm_nccl uses it, or comm_mpi, to join
 * processes. */
extern const communicator comm_rendezvous;

/* The rank of this process and the number of ranks, from the environment that
 * mpirun, Slurm or torchrun set; false without one. */
bool rendezvous_rank(int64_t *rank, int64_t *ranks);

#endif
