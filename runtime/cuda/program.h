/* A plan's program on the GPUs of this process: enqueued once for a look, then
 * captured as a graph, which is replayed. */
#ifndef TDL_RUNTIME_CUDA_PROGRAM_H
#define TDL_RUNTIME_CUDA_PROGRAM_H

#include "runtime/comm/comm.h"
#include "runtime/cuda/cuda.h"

typedef struct program program;

/* Needs the arenas of the workers that are here, and makes all else that a step
 * uses: a step allocates nothing.  `link` is the state of the communicator.
 * NULL with *f set. */
program *program_open(cuda *c, const communicator *comm, void *link,
		      failure *f);
/* After a failure, also one that the program knows nothing of: its close waits
 * for no other process. */
void program_abandon(program *p);
void program_close(program *p);

/* Runs it once and waits for the end. */
bool program_step(program *p, failure *f);

/* Bytes that the workers here received in an instruction so far; how much of
 * its arena any of them uses. */
int64_t program_received(const program *p, int instr);
int64_t program_used(const program *p);

#endif
