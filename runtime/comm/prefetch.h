/* When transfers that overlap computation begin and end: those within a stage,
 * and the messages that it receives.
 *
 * Data to send are copied to staging memory when a transfer begins; received
 * data are copied out of it when it ends.  So a transfer may begin before its
 * turn, as soon as its source is ready, and ends before the first instruction
 * that needs its target or overwrites its source.  Transfers of one kind in a
 * bucket are joined into one, represented by the first.  Of the messages on a
 * channel, one at a time is awaited ahead. */
#ifndef TDL_RUNTIME_COMM_PREFETCH_H
#define TDL_RUNTIME_COMM_PREFETCH_H

#include "plan/plan.h"

typedef struct prefetch_event {
	int instr;
	bool begins; /* or it ends */
} prefetch_event;

typedef struct prefetch {
	/* The events before instruction i, or after the last one for i =
	 * ninstrs, are first[i] .. first[i + 1]. */
	int *first;
	prefetch_event *events;
	int64_t *at;	/* by instruction: its place in staging memory */
	int64_t nbytes; /* of that */
} prefetch;

/* The schedule, in a, for transfers that need nbytes[] of staging memory, by
 * instruction.  Transfers with -1, and all but the first of a phase
 * (plan_phase_end()), are not part of it.  It depends only on the arguments, so
 * that workers with the same arguments do everything in the same order. */
prefetch prefetch_of(arena *a, const plan *p, const int64_t *nbytes);

#endif
