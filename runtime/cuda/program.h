/* The programs of the stages on the GPUs of this process: enqueued directly in
 * the first step, then captured as one graph, which is replayed. */
#ifndef TDL_RUNTIME_CUDA_PROGRAM_H
#define TDL_RUNTIME_CUDA_PROGRAM_H

#include "runtime/cuda/cuda.h"
#include "runtime/exec/communicator.h"

typedef struct program program;

/* Prepares the programs; the arenas of the workers that are here exist already.
 * All that a step uses is allocated here, nothing in a step.  `link' is the
 * state of the communicator.  NULL with *f set. */
program *program_open(cuda *c, const communicator *comm, void *link,
		      failure *f);
/* Marks the run as failed, also for a reason outside the program: its close
 * waits for no other process. */
void program_abandon(program *p);
void program_close(program *p);

/* Runs them once and waits for the end. */
bool program_step(program *p, failure *f);

/* The host's memory of a worker's copy in an instruction; NULL for none: see
 * backend.h. */
void *program_copy(const program *p, int instr, int worker);

/* Of a stage: bytes that its workers here received in an instruction so far;
 * the greatest part of its arena that any of them uses. */
int64_t program_received(const program *p, int stage, int instr);
int64_t program_used(const program *p, int stage);

#endif
