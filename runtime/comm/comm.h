/* Communicators: how workers are started and how they exchange regions. */
#ifndef TDL_RUNTIME_COMM_COMM_H
#define TDL_RUNTIME_COMM_COMM_H

#include "plan/plan.h"
#include "runtime/fail.h"

/* What a worker does; false, with *f set, ends all of them. */
typedef bool comm_body(void *arg, int worker, failure *f);

typedef struct communicator {
	const char *name;
	const char *missing; /* why it is not there; NULL if it is */
	/* For the workers of a plan; arenas[w] is worker w's memory, where it
	 * is in this process.  NULL with *f set. */
	void *(*open)(const plan *p, unsigned char *const *arenas, failure *f);
	/* Runs body(arg, w, ..) for each worker that is here, all at a time,
	 * and returns when all have ended.  The first failure of any is left
	 * in *f and ends all. */
	bool (*launch)(void *c, comm_body *body, void *arg, failure *f);
	/* Fetches what worker receives in the instruction, a MOVE or a
	 * COMBINE, at the same point of the program on all workers. Returns
	 * false when another worker has failed. */
	bool (*move)(void *c, int instr, int worker);
	bool (*combine)(void *c, int instr, int worker);
	/* Waits for all workers; false when one has failed. */
	bool (*barrier)(void *c, int worker);
	/* Bytes that all workers here received from others in an instruction
	 * since open(). */
	int64_t (*received)(void *c, int instr);
	void (*close)(void *c);
} communicator;

extern const communicator comm_threads;

/* The i-th communicator's row, NULL after the last. */
const communicator *comm_row(int i);

#endif
