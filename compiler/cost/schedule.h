/* Schedules of pipelines: the order of the passes on each device, the time of a
 * step, and the number of micro-batches in flight.
 *
 * There are S devices with V chunks each: virtual stage c S + s is chunk c of
 * device s.  For each micro-batch a virtual stage does F (forward), B (the
 * gradient of its input) and W (the gradients of the weights); schedules that
 * do not split the backward pass do B and W as one.  A device does the next
 * pass of its list as soon as the input has arrived.  A message between
 * neighbours takes its link's time, occupies no device, and does not wait for
 * other messages.  A micro-batch is in flight on a device from the begin of its
 * F to the end of its B and W. */
#ifndef TDL_COMPILER_COST_SCHEDULE_H
#define TDL_COMPILER_COST_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef enum pipeline_schedule {
	SCHEDULE_GPIPE,	      /* all F, then all B (Huang et al. 2019) */
	SCHEDULE_1F1B,	      /* PipeDream-flush (Narayanan et al. 2021) */
	SCHEDULE_INTERLEAVED, /* 1F1B over chunks (Megatron-LM) */
	/* zero bubble, with the memory of 1F1B's first stage (Qi et al.
	 * 2024) */
	SCHEDULE_ZB,
} pipeline_schedule;

/* gpipe, 1f1b, interleaved, zb */
const char *schedule_name(pipeline_schedule kind);

typedef struct pipeline {
	pipeline_schedule kind;
	int ndevices;	   /* S >= 1 */
	/* V >= 1; 1 unless interleaved, or GPipe, which does all F of a chunk
	 * before those of the next */
	int chunks;
	/* M >= 1.  If it is no multiple of S, interleaved lists are those for
	 * the next multiple, without the steps of the extra micro-batches */
	int micro_batches;
	/* Nanoseconds of a micro-batch, by virtual stage. */
	const int64_t *forward, *backward, *weight;
	/* Nanoseconds of a message between virtual stages q and q + 1, in
	 * either direction; NULL if messages take no time. */
	const int64_t *link;
} pipeline;

typedef enum step_kind { STEP_F, STEP_B, STEP_W, STEP_BW } step_kind;

typedef struct pipeline_step {
	step_kind kind;
	int chunk, micro_batch;
	int64_t begin, end; /* ns */
} pipeline_step;

typedef struct pipeline_run {
	int64_t ns;	 /* until the last device is done */
	double bubble;	 /* idle part of the devices' time */
	/* by device: the most (chunk-)micro-batches at one time */
	int *in_flight;
	int *nsteps;	 /* by device */
	pipeline_step **steps;
} pipeline_run;

/* The most micro-batches (interleaved: chunk-micro-batches) in flight on device
 * s: GPipe M, 1F1B min(M, S - s), interleaved min(M V, 2 (S - s - 1) + (V - 1)
 * S + 1), zero bubble min(M, S). */
int schedule_in_flight(pipeline_schedule kind, int s, int ndevices, int chunks,
		       int micro_batches);

/* The micro-batches in flight on a device of an interleaved schedule:
 * in_flight[k * V + c] of chunk c at instant k, while chunk running[k] does a
 * pass. */
typedef struct chunk_counts {
	int n; /* instants */
	int *running;
	int *in_flight;
} chunk_counts;

/* The instants of device s, in a.  Left out are instants at which another has
 * the same running chunk and at least as many micro-batches of every chunk.
 * They depend only on the order of passes, not on times. */
chunk_counts schedule_chunk_counts(arena *a, int s, int ndevices, int chunks,
				   int micro_batches);

enum {
	SCHEDULE_MAX_STEPS = 1 << 23, /* all F, B and W, S V M 3 */
	/* .. times S: choices that zero bubble evaluates */
	SCHEDULE_MAX_CHOICES = 1 << 28,
};

/* The reason why a pipeline cannot be simulated, in a: it has more steps than
 * the limits, or its steps and messages add up to more than INT64_MAX ns.  NULL
 * if it can be. */
const char *pipeline_refused(arena *a, const pipeline *p);

/* Simulates one step of a pipeline that pipeline_refused() accepts; the result
 * is in a. */
const pipeline_run *pipeline_simulate(arena *a, const pipeline *p);

/* A device's list of passes; begin and end may be unset. */
typedef struct step_list {
	pipeline_step *at;
	int n;
} step_list;

/* The list of each device, in a.  Times may be NULL: all steps then take
 * equally long.  Only the lists of zero bubble depend on times. */
step_list *pipeline_lists(arena *a, const pipeline *p);

/* ---- shared by the schedules' files ------------------------------------- */

/* Runs the lists of ndevices devices.  NULL if they wait for each other in a
 * cycle. */
pipeline_run *pipeline_run_lists(arena *a, const pipeline *p, step_list *lists);

/* Zero bubble: the fastest of several candidate lists that keep at most min(M,
 * S) micro-batches in flight. */
pipeline_run *pipeline_zero_bubble(arena *a, const pipeline *p);

#endif
