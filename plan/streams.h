/* The schedule of a plan on a device with queues: kernels on one, transfers on
 * another, and the waits between them.
 *
 * A program is in one order, and its places in memory are given for that order
 * (plan_place()).  Two queues that run beside each other need it only between
 * instructions of which one writes where the other reads or writes; there, and
 * nowhere else, the later waits for the earlier. */
#ifndef TDL_PLAN_STREAMS_H
#define TDL_PLAN_STREAMS_H

#include "plan/plan.h"

typedef enum stream_id {
	STREAM_COMPUTE,	      /* kernels, and transfers within a worker */
	STREAM_COMMUNICATION, /* all other transfers */
	STREAM_COUNT
} stream_id;

/* The unit of work of a queue: a kernel, or transfers that are handed over
 * together: whole buckets of the plan, and others.  They do not touch each
 * other, but for a COMBINE and the MOVE that spreads its result: an
 * all-reduce. */
typedef struct stream_step {
	stream_id on;
	int ninstrs;
	const int *instrs; /* in the program's order */
	int after;  /* begins when this step of the other queue has ended; -1 */
	bool marks; /* a step of the other queue waits for its end */
} stream_step;

/* Steps in the order in which they are handed over; each queue runs its own in
 * that order. */
typedef struct stream_schedule {
	int nsteps;
	stream_step *steps;
} stream_schedule;

/* Small transfers of one kind are handed over together, as long as no
 * instruction in between needs them or overwrites their sources. */
enum {
	STREAM_SMALL = 1 << 20,	 /* bytes of a transfer, or a bucket, .. */
	STREAM_BUCKET = 8 << 20, /* .. of all together */
};

stream_schedule plan_streams(arena *a, const plan *p);

/* Whether instruction i receives nothing from other workers on any worker. */
bool stream_is_local(const plan *p, int i);

/* The MOVE that spreads what the COMBINE i makes, right after it or in its
 * bucket; -1: none. */
int stream_spread(const plan *p, int i);

/* The COMBINE that makes what instruction i spreads, as above; -1. */
int stream_combined(const plan *p, int i);

/* ---- the check --------------------------------------------------------- */

typedef enum stream_fault_kind {
	STREAM_NOT_ONCE, /* an instruction is not in just one step */
	STREAM_BAD_WAIT, /* for a later step, or for one of the same queue */
	STREAM_UNORDERED, /* two instructions that conflict may run at a time */
	STREAM_REVERSED, /* .. or run in the other order */
} stream_fault_kind;

typedef struct stream_fault {
	stream_fault_kind kind;
	int first, second; /* instructions, in the program's order */
} stream_fault;

/* Replays a schedule, and checks for every pair of instructions with a conflict
 * (one writes memory that the other reads or writes) that the first has ended
 * whenever the second begins.  It shares nothing with the making of schedules.
 * False, with *f set, for a wrong schedule. */
bool streams_check(const plan *p, const stream_schedule *s, stream_fault *f);

#endif
