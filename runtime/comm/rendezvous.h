/* Rendezvous: processes of a run that no launcher connects find each other
 * through files in a folder that all of them reach.
 *
 * Each has a heartbeat of its own there, and reads the others'.  Files
 * that a killed run left do no harm: processes know each other by random
 * numbers, which each of them draws and rank 0 repeats.  Each meeting is of all
 * processes, in the same order.
 *
 * A thread writes the heartbeat of this process and watches the others': when
 * one has failed, is silent, or stands still while others wait for it, the
 * thread ends this process, and the lowest living rank says why. */
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
