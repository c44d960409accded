/* The schedule of a plan on a device with queues: kernels on one queue,
 * transfers on another, the messages of a pipeline's stage on further ones, and
 * the waits between them.
 *
 * A program is in one order, and memory is placed for that order
 * (plan_place()).  Parallel queues must keep the order only between two
 * instructions one of which writes where the other reads or writes.  There, and
 * nowhere else, the later waits for the earlier. */
#ifndef TDL_PLAN_STREAMS_H
#define TDL_PLAN_STREAMS_H

#include "plan/plan.h"

typedef enum stream_id {
	STREAM_COMPUTE,	      /* kernels, and transfers within a worker */
	STREAM_COMMUNICATION, /* other transfers */
	/* from here on: one queue for the messages of each link */
	STREAM_COUNT
} stream_id;

/* The unit of work of a queue: a kernel, or transfers that are submitted
 * together (whole buckets of the plan and others).  These do not conflict,
 * except for a COMBINE and the MOVE that spreads its result: an all-reduce. */
typedef struct stream_step {
	int on; /* its queue */
	int ninstrs;
	const int *instrs; /* in the program's order */
	int nafter;
	/* the steps that must end before it begins: at most one of each other
	 * queue */
	const int *after;
	bool marks; /* a step of another queue waits for its end */
} stream_step;

/* Steps in the order of submission; each queue runs its own in that order. */
typedef struct stream_schedule {
	int nqueues;
	int nsteps;
	stream_step *steps;
} stream_schedule;

/* Another order of a program, in which SENDs come later and RECEIVEs earlier
 * (plan/messages.h). */
typedef struct stream_order {
	int n;
	const int *instrs; /* each once */
	int nlinks;
	/* by channel: the message's queue is STREAM_COUNT + links[] */
	const int *links;
} stream_order;

/* Small transfers of one kind are submitted together, as long as no instruction
 * in between needs them or overwrites their sources. */
enum {
	STREAM_SMALL = 1 << 20,	 /* bytes of one transfer, or bucket, .. */
	STREAM_BUCKET = 8 << 20, /* .. of all together */
};

stream_schedule plan_streams(arena *a, const plan *p);

/* The same for another order. */
stream_schedule plan_streams_in(arena *a, const plan *p,
				const stream_order *o);

/* Whether an instruction reads or writes bytes of a buffer; whether it writes
 * them. */
bool stream_touches(const plan *p, int i, int buffer);
bool stream_writes(const plan *p, int i, int buffer);

/* The end of the transfers that are submitted together with instruction i, the
 * first of them: its bucket, or an all-reduce; else i + 1. */
int stream_unit_end(const plan *p, int i);

/* Whether instruction i receives nothing from other workers on any worker. */
bool stream_is_local(const plan *p, int i);

/* The MOVE that spreads the result of COMBINE i: the next instruction, or one
 * in its bucket; -1 if there is none. */
int stream_spread(const plan *p, int i);

/* The COMBINE whose result instruction i spreads, as above; -1. */
int stream_combined(const plan *p, int i);

/* ---- the check --------------------------------------------------------- */

typedef enum stream_fault_kind {
	STREAM_NOT_ONCE, /* an instruction is in no step or in several */
	/* a step waits for a later one, or for one of the same queue */
	STREAM_BAD_WAIT,
	STREAM_BAD_QUEUE, /* a message is on the wrong queue */
	/* two conflicting instructions may run at the same time */
	STREAM_UNORDERED,
	STREAM_REVERSED, /* .. or run in the other order */
} stream_fault_kind;

typedef struct stream_fault {
	stream_fault_kind kind;
	int first, second; /* instructions, in the program's order */
} stream_fault;

/* Replays a schedule.  Checks for every pair of conflicting instructions (one
 * writes memory that the other reads or writes) that the first has ended when
 * the second begins.  Shares no code with the making of schedules.  Returns
 * false, with *f set, for a wrong schedule. */
bool streams_check(const plan *p, const stream_schedule *s, stream_fault *f);
/* The same for plan_streams_in(): where o differs from the program, its order
 * counts. */
bool streams_check_in(const plan *p, const stream_order *o,
		      const stream_schedule *s, stream_fault *f);

#endif
