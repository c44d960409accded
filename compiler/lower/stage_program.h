/* Turns the program of a stage's graph into the stage's program.  Inside lower/
 * only. */
#ifndef TDL_COMPILER_LOWER_STAGE_PROGRAM_H
#define TDL_COMPILER_LOWER_STAGE_PROGRAM_H

#include "compiler/lower/pipeline.h"

/* An end of a channel; both of its ends are in section `at'. */
typedef struct stage_message {
	int channel;
	int tensor; /* of the plan */
	section at;
	bool sends;
} stage_message;

/* Makes a stage of p, whose buffers have no places yet: adds messages, arranges
 * the body in segments, sets schedule and slots. p's tables are its own.  The
 * list has STEP_BW, or STEP_B and STEP_W.
 *
 * The segments of a stage are the passes of its chunks: F from the first chunk
 * to the last, then B and W of each from the last to the first.  Empty segments
 * are left out, but one segment remains. */
void stage_program(arena *a, plan *p, const stage_homes *h, int nth,
		   const step_list *order, const stage_message *messages,
		   int nmessages);

/* The runs of tasks of a plan_stage, *nruns of them, that spell out a list,
 * with repetitions written once. */
plan_tasks *stage_runs(arena *a, const int *tasks, int ntasks, int *nruns);

#endif
