/* The instants at which transfers begin and end that overlap computation; those
 * within a stage, and the messages that it receives.
 *
 * Data to send are copied to staging memory when a transfer begins, and
 * received data are copied out of it when it ends.  So a transfer may begin
 * before its turn, as soon as its source is there, and ends before the first
 * instruction that needs its target, or overwrites its source.  Transfers of
 * one kind in a bucket are one, which stands for the first of them.  Of the
 * messages on a channel one is waited for ahead. */
#ifndef TDL_RUNTIME_COMM_PREFETCH_H
#define TDL_RUNTIME_COMM_PREFETCH_H

#include "plan/plan.h"

typedef struct prefetch_event {
	int instr;
	bool begins; /* else it ends */
} prefetch_event;

typedef struct prefetch {
	/* Before instruction i, and after the last one, i = ninstrs: events
	 * first[i] .. first[i + 1]. */
	int *first;
	prefetch_event *events;
	int64_t *at;	/* by instruction: its place in staging memory */
	int64_t nbytes; /* of that */
} prefetch;

/* A schedule for transfers of the given staging memory, by instruction; those
 * of -1, and all but the first of a phase (plan_phase_end()), are no part of
 * it.  A function of these alone: workers with the same
 * arguments do all in the same order. */
prefetch prefetch_of(arena *a, const plan *p, const int64_t *nbytes);

#endif
