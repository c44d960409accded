/* A stage's program, from that of its graph alone.  Inside lower/ only. */
#ifndef TDL_COMPILER_LOWER_STAGE_PROGRAM_H
#define TDL_COMPILER_LOWER_STAGE_PROGRAM_H

#include "compiler/lower/pipeline.h"

/* An end of a channel: the section in which both of its ends are. */
typedef struct stage_message {
	int channel;
	int tensor; /* of the plan */
	section at;
	bool sends;
} stage_message;

/* Makes a stage of p, whose buffers have no places yet: messages are put in,
 * the body is brought into segments, schedule and slots are set.  p's tables
 * are its own. */
void stage_program(arena *a, plan *p, const stage_homes *h, int nth,
		   pipeline_order order, const stage_message *messages,
		   int nmessages);

#endif
