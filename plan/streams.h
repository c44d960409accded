/* The schedule of a plan on a device with queues: kernels on one, transfers on
 * another, the messages of a pipeline's stage on others, and the waits between
 * them.
 *
 * A program is in one order, and its places in memory are given for that order
 * (plan_place()).  Queues that run beside each other need it only between
 * instructions of which one writes where the other reads or writes; there, and
 * nowhere else, the later waits for the earlier. */
#ifndef TDL_PLAN_STREAMS_H
#define TDL_PLAN_STREAMS_H

#include "plan/plan.h"

typedef enum stream_id {
	STREAM_COMPUTE,	      /* kernels, and transfers within a worker */
	STREAM_COMMUNICATION, /* all other transfers */
	STREAM_COUNT	      /* from here on: the messages of a link each */
} stream_id;

/* The unit of work of a queue: a kernel, or transfers that are handed over
 * together: whole buckets of the plan, and others.  They do not touch each
 * other, but for a COMBINE and the MOVE that spreads its result: an
 * all-reduce. */
typedef struct stream_step {
	int on; /* a queue */
	int ninstrs;
	const int *instrs; /* in the program's order */
	int nafter;
	const int *after; /* begins when these steps have ended, which are of
			     other queues, one of each at most */
	bool marks; /* a step of another queue waits for its end */
} stream_step;

/* Steps in the order in which they are handed over; each queue runs its own in
 * that order. */
typedef struct stream_schedule {
	int nqueues;
	int nsteps;
	stream_step *steps;
} stream_schedule;

/* Another order of a program: SENDs come later, and RECEIVEs earlier, than
 * they do there (plan/messages.h). */
typedef struct stream_order {
	int n;
	const int *instrs; /* each once */
	int nlinks;
	const int *links; /* by channel: queue STREAM_COUNT + links[] */
} stream_order;

/* Small transfers of one kind are handed over together, as long as no
 * instruction in between needs them or overwrites their sources. */
enum {
	STREAM_SMALL = 1 << 20,	 /* bytes of a transfer, or a bucket, .. */
	STREAM_BUCKET = 8 << 20, /* .. of all together */
};

stream_schedule plan_streams(arena *a, const plan *p);

/* The same in another order. */
stream_schedule plan_streams_in(arena *a, const plan *p,
				const stream_order *o);

/* Whether an instruction reads or writes bytes of a buffer; writes them. */
bool stream_touches(const plan *p, int i, int buffer);
bool stream_writes(const plan *p, int i, int buffer);

/* The end of the transfers that are handed over together with instruction i,
 * which is the first of them: its bucket, or an all-reduce; else i + 1. */
int stream_unit_end(const plan *p, int i);

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
	STREAM_BAD_QUEUE, /* a message and its queue do not fit */
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
/* Of plan_streams_in(): where o differs from the program, its order counts. */
bool streams_check_in(const plan *p, const stream_order *o,
		      const stream_schedule *s, stream_fault *f);

#endif
