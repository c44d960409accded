/* Rendezvous: processes of a run without a launcher find each other through
 * files in a shared folder.
 *
 * Each process has a heartbeat file there, and reads the others'.  Files left
 * by a killed run do no harm: each process draws a random number that
 * identifies it, and rank 0 repeats the numbers of those that have joined.  All
 * processes take part in each meeting, in the same order.
 *
 * A thread writes the heartbeat of this process and watches the others'.  If
 * one has failed, is silent, or stands still while others wait for it, the
 * thread ends this process, and the lowest living rank reports why. */
#ifndef TDL_RUNTIME_COMM_RENDEZVOUS_H
#define TDL_RUNTIME_COMM_RENDEZVOUS_H

#include "runtime/exec/communicator.h"

/* Not in the table of rows: comm_nccl uses this or comm_mpi to join
 * processes. */
extern const communicator comm_rendezvous;

/* The rank of this process and the number of ranks, from environment variables
 * of mpirun, Slurm or torchrun; false if there are none. */
bool rendezvous_rank(int64_t *rank, int64_t *ranks);

#endif
