/* Schedules of pipelines: the order of the passes on each device, the time of a
 * step, and the number of micro-batches in flight.
 *
 * S devices, V chunks on each: virtual stage c S + s is chunk c of device s.
 * For each micro-batch a virtual stage does F (forward), B (the gradient of its
 * input) and W (the gradients of the weights); schedules that do not split the
 * backward pass do B and W as one.  A device does the next pass of its list as
 * soon as its input is there; a message between neighbours takes its link's
 * time, holds up no device and waits for no other message.  A micro-batch is in
 * flight on a device from the begin of its F until the end of its B and W. */
#ifndef TDL_COMPILER_COST_SCHEDULE_H
#define TDL_COMPILER_COST_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef enum pipeline_schedule {
	SCHEDULE_GPIPE,	      /* all F, then all B (Huang et al. 2019) */
	SCHEDULE_1F1B,	      /* PipeDream-flush (Narayanan et al. 2021) */
	SCHEDULE_INTERLEAVED, /* 1F1B over chunks (Megatron-LM) */
	SCHEDULE_ZB,	      /* zero bubble, memory as 1F1B's first stage (Qi
				 et al. 2024) */
} pipeline_schedule;

/* gpipe, 1f1b, interleaved, zb */
const char *schedule_name(pipeline_schedule kind);

typedef struct pipeline {
	pipeline_schedule kind;
	int ndevices;	   /* S >= 1 */
	int chunks;	   /* V >= 1; 1 unless interleaved, or GPipe: all F of
			      a chunk come before those of the next */
	int micro_batches; /* M >= 1; where it is no multiple of S, interleaved
			      lists are those of more micro-batches, less the
			      steps of these */
	/* Nanoseconds of a micro-batch, by virtual stage. */
	const int64_t *forward, *backward, *weight;
	/* Nanoseconds of a message between virtual stages q and q + 1, in each
	 * direction; NULL if messages take no time. */
	const int64_t *link;
} pipeline;

typedef enum step_kind { STEP_F, STEP_B, STEP_W, STEP_BW } step_kind;

typedef struct pipeline_step {
	step_kind kind;
	int chunk, micro_batch;
	int64_t begin, end; /* ns */
} pipeline_step;

typedef struct pipeline_run {
	int64_t ns;	 /* until the last device has done all */
	double bubble;	 /* part of the devices' time without work */
	int *in_flight;	 /* by device, the maximum of (chunk-)micro-batches */
	int *nsteps;	 /* by device */
	pipeline_step **steps;
} pipeline_run;

/* Micro-batches (interleaved: chunk-micro-batches) in flight on device s at
 * most: GPipe M, 1F1B min(M, S - s), interleaved min(M V, 2 (S - s - 1) +
 * (V - 1) S + 1), zero bubble min(M, S). */
int schedule_in_flight(pipeline_schedule kind, int s, int ndevices, int chunks,
		       int micro_batches);

/* The contents of a device of an interleaved schedule during its passes: at
 * instant k the micro-batches in flight of each chunk, in_flight[k * V + c], of
 * which the chunk running[k] does one. */
typedef struct chunk_counts {
	int n; /* instants */
	int *running;
	int *in_flight;
} chunk_counts;

/* Of device s: the instants for which no other one has the same running chunk
 * and as many or more micro-batches of every chunk.  They depend on the order
 * of passes alone, not on times. */
chunk_counts schedule_chunk_counts(arena *a, int s, int ndevices, int chunks,
				   int micro_batches);

enum {
	SCHEDULE_MAX_STEPS = 1 << 23, /* all F, B and W, S V M 3 */
	/* .. times S: choices that zero bubble evaluates. */
	SCHEDULE_MAX_CHOICES = 1 << 28,
};

/* The reason why a pipeline cannot be simulated, in a; NULL if it can be: it
 * has more steps than the limits, or the sum of all its steps and messages is
 * more than INT64_MAX ns. */
const char *pipeline_refused(arena *a, const pipeline *p);

/* Simulates one step of a pipeline that is not refused; the result is in a. */
const pipeline_run *pipeline_simulate(arena *a, const pipeline *p);

/* A device's list; begin and end may not be set. */
typedef struct step_list {
	pipeline_step *at;
	int n;
} step_list;

/* By device, in a: its list.  Times may be NULL, which is that all steps take
 * as long as each other; the lists of zero bubble alone depend on them. */
step_list *pipeline_lists(arena *a, const pipeline *p);

/* ---- shared by the schedules' files ------------------------------------- */

/* Runs the lists, of ndevices.  NULL if they wait for each other. */
pipeline_run *pipeline_run_lists(arena *a, const pipeline *p, step_list *lists);

/* Zero bubble: of several plans of the lists with at most min(M, S)
 * micro-batches in flight, the fastest. */
pipeline_run *pipeline_zero_bubble(arena *a, const pipeline *p);

#endif
