/* When transfers begin and end that go on while workers compute.
 *
 * What is sent is copied to staging memory when a transfer begins, and what is
 * received comes out of it when it ends.  So one may begin before its turn, as
 * soon as its source is there, and ends where somebody needs its target, or
 * writes to where its source is. */
#ifndef TDL_RUNTIME_COMM_AHEAD_H
#define TDL_RUNTIME_COMM_AHEAD_H

#include "plan/plan.h"

typedef struct ahead_event {
	int instr;
	bool begins; /* else it ends */
} ahead_event;

typedef struct ahead {
	/* Before instruction i, and after the last one, i = ninstrs: events
	 * first[i] .. first[i + 1]. */
	int *first;
	ahead_event *events;
	int64_t *at;	/* by instruction: its place in staging memory */
	int64_t nbytes; /* of that */
} ahead;

/* A schedule for transfers of the given staging memory, by instruction; those
 * of -1 are no part of it.  A function of these alone: workers that have the
 * same do all in the same order. */
ahead ahead_of(arena *a, const plan *p, const int64_t *nbytes);

#endif
