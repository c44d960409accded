/* Processes of a run that find each other through files on a folder that all
 * of them reach: what nobody else has started together.
 *
 * Each has a notice of its own there, and reads the others'.  Files of a run
 * that was killed do no harm: who joins knows the others by numbers that they
 * have drawn, and that rank 0 has read and repeated.  All meetings are of all
 * processes, in one order.
 *
 * A thread tells the others that this process lives, and looks after them: when
 * one has failed, or is not heard of, or stands still while others wait for it,
 * it ends this process, and the lowest rank that lives says why. */
#ifndef TDL_RUNTIME_COMM_RENDEZVOUS_H
#define TDL_RUNTIME_COMM_RENDEZVOUS_H

#include "runtime/comm/comm.h"

/* Not in the table of rows: comm_nccl stands on it, or on comm_mpi. */
extern const communicator comm_rendezvous;

/* The rank of this process and how many there are, as mpirun, Slurm or torchrun
 * tell those that they start; false where nothing does. */
bool rendezvous_rank(int64_t *rank, int64_t *ranks);

#endif
