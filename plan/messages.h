/* The order in which the messages between the stages of a pipeline go.
 *
 * Each pair of a sending and a receiving stage is a link, whose messages go one
 * after another, in the order in which the receiver asks for them.  A message
 * goes as early as it can: its value is there, and nothing that comes before
 * its RECEIVE uses the receiver's place any more.
 *
 * Who hands work to queues that may wait for other devices does it in this
 * order of all messages: then nobody waits in a circle, even where a queue
 * holds up others. */
#ifndef TDL_PLAN_MESSAGES_H
#define TDL_PLAN_MESSAGES_H

#include "plan/pipeline.h"
#include "plan/streams.h"

typedef struct stage_link {
	int from, to; /* stages */
} stage_link;

typedef struct link_message {
	int channel;
	int send, receive; /* instructions of the two stages' programs */
	/* Of the sender, and of the receiver, the instructions before this one
	 * come before the message, apart from SENDs and RECEIVEs. */
	int sender_at, receiver_at;
} link_message;

typedef struct message_order {
	int nlinks;
	stage_link *links;
	int *link_of; /* by channel */
	int nmessages;
	link_message *messages;
} message_order;

/* Of an unrolled pipeline (pipeline_unroll()) that was checked; the same for
 * all that ask. */
message_order messages_in_order(arena *a, const plan_pipeline *p);

/* A stage's program, its messages where they are in that order.  The stage has
 * own links: *own receives their numbers, by the order's. */
stream_order messages_in_stage(arena *a, const plan_pipeline *p,
			       const message_order *o, int stage, int **own);

#endif
