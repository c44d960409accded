/* The order of the messages between the stages of a pipeline.
 *
 * A link joins a sending stage to a receiving one.  Its messages go one after
 * another, in the order in which the receiver asks for them.  A message goes as
 * early as possible: its value has been computed, and nothing before its
 * RECEIVE still uses the receiver's place.
 *
 * A runtime that submits work to queues which may wait for other devices must
 * submit messages in this order.  Then no cycle of waits can arise, even if a
 * queue delays others. */
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
	/* The number of instructions of the sender, and of the receiver, that
	 * come before the message, SENDs and RECEIVEs not counted. */
	int sender_at, receiver_at;
} link_message;

typedef struct message_order {
	int nlinks;
	stage_link *links;
	int *link_of; /* by channel */
	int nmessages;
	link_message *messages;
} message_order;

/* The order for a checked, unrolled pipeline (pipeline_unroll()), in a.  It is
 * deterministic, so all processes agree on it. */
message_order messages_in_order(arena *a, const plan_pipeline *p);

/* A stage's program with its messages placed in that order, in a.  Its links
 * are renumbered; *own receives their numbers in o. */
stream_order messages_in_stage(arena *a, const plan_pipeline *p,
			       const message_order *o, int stage, int **own);

#endif
