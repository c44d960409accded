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

/* The segments of a stage are the passes of its chunks: F of the first to the
 * last, then B of the last, and its W, to the first.  Those that would be empty
 * are left out, but for one.
 *
 * Makes a stage of p, whose buffers have no places yet: messages are put in,
 * the body is brought into segments, schedule and slots are set.  p's tables
 * are its own.  The list has STEP_BW, or STEP_B and STEP_W. */
void stage_program(arena *a, plan *p, const stage_homes *h, int nth,
		   const step_list *order, const stage_message *messages,
		   int nmessages);

/* The runs of tasks of a plan_stage, so many, that are those of a list, with
 * what is repeated once. */
plan_tasks *stage_runs(arena *a, const int *tasks, int ntasks, int *nruns);

#endif
