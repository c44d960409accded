/* The programs of the stages on the GPUs of this process.  In the first step
 * they are enqueued directly; then they are captured as one graph, which is
 * replayed. */
#ifndef TDL_RUNTIME_CUDA_PROGRAM_H
#define TDL_RUNTIME_CUDA_PROGRAM_H

#include "runtime/cuda/cuda.h"
#include "runtime/exec/communicator.h"

typedef struct program program;

/* Prepares the programs.  The arenas of the workers here exist already.
 * Allocates everything that steps use; steps allocate nothing.  `link' is the
 * state of the communicator.  NULL with *f set on failure. */
program *program_open(cuda *c, const communicator *comm, void *link,
		      failure *f);
/* Marks the run as failed, also for a reason outside of the program: closing it
 * then waits for no other process. */
void program_abandon(program *p);
void program_close(program *p);

/* Runs the programs once and waits for their end. */
bool program_step(program *p, failure *f);

/* The host's memory for a worker's copy in an instruction; NULL if there is
 * none: see backend.h. */
void *program_copy(const program *p, int instr, int worker);

/* For a stage: bytes that its workers here received in an instruction so far;
 * the greatest part of its arena that any of them uses. */
int64_t program_received(const program *p, int stage, int instr);
int64_t program_used(const program *p, int stage);

#endif
