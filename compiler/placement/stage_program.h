/* Dynamic programs over stages that differ in their devices and in the ways to
 * compute them.
 *
 * Stages are placed from the last one on, so that the micro-batches in flight
 * are known.  The state is (stages after, first layer of these, devices used),
 * and a step places a stage of any length, computed in any way, before them.  A
 * stage within limits is extended only if the least sum of times for the layers
 * before it, on the remaining devices and for any number in flight there, can
 * complete a plan within the greatest sum. */
#ifndef TDL_COMPILER_PLACEMENT_STAGE_PROGRAM_H
#define TDL_COMPILER_PLACEMENT_STAGE_PROGRAM_H

#include <stdint.h>

#include "compiler/cost/schedule.h"
#include "compiler/placement/stage_cost.h"

enum {
	STAGE_MAX_WAYS = 1 << 10,
	/* Limits of the numbers of costs (of intervals, by way) and of
	 * states. */
	STAGE_MAX_COSTS = 1 << 23,
	STAGE_MAX_STATES = 1 << 24,
};

typedef struct stage_problem {
	const stage_costs *costs;
	const stage_way *ways;
	int nways;
	pipeline_schedule schedule;
	int micro_batches;
	/* of a micro-batch; the replicas of each way divide it */
	int samples;
	int devices;   /* at most so many */
	/* in all stages; 0: one more than the stages after it, at most
	 * micro_batches.  The searches of stage_search.h take it from the
	 * schedule. */
	int in_flight;
	int least_stages, most_stages; /* 1 <= least <= most <= layers */
	double cap;		       /* bytes per device */
} stage_problem;

/* Stage s has the layers [first[s], first[s + 1]). */
typedef struct stage_plan {
	int nstages, *first, *way; /* first: nstages + 1 */
} stage_plan;

typedef struct stage_limits {
	double memory, time, sync; /* per stage */
	double most;		   /* a result has to be below this */
	/* By layer, the least and most stages that may be after it; NULL: any
	 * number.  Skips wait at their producer as if most_behind stages were
	 * after their reader, so that their bytes are a lower bound.  Without
	 * least_behind, most_behind has no other effect. */
	const int *least_behind, *most_behind;
} stage_limits;

typedef struct stage_program stage_program;

/* Whether the tables of a problem are small enough. */
bool stage_program_fits(const stage_problem *p);

/* The tables of costs, in a.  Copies the problem. */
stage_program *stage_program_new(arena *a, const stage_problem *p);

/* All distinct times and exchanges of a stage over all ways and intervals, n of
 * each. */
typedef struct stage_values {
	size_t n;
	const double *times, *syncs;
} stage_values;

stage_values stage_program_values(arena *a, const stage_program *g);

/* The least sum of times within the limits, or the least peak, and its plan in
 * *plan, which has room for most_stages.  INFINITY if there is none. */
double stage_program_sum(stage_program *g, const stage_limits *max,
			 stage_plan *plan);
double stage_program_peak(stage_program *g, const stage_limits *max,
			  stage_plan *plan);

/* Lower bounds of the longest time and of the sum of times under a memory
 * limit, with as few micro-batches in flight as possible; INFINITY if nothing
 * fits. */
double stage_program_longest(stage_program *g, double memory);
double stage_program_least_sum(stage_program *g, double memory);

/* An estimate of the steps that a program takes. */
int64_t stage_program_work(const stage_program *g);

/* Micro-batches in flight in a stage with `behind' stages after it. */
int stage_in_flight_of(const stage_problem *p, int behind);

/* The bytes of a way with n micro-batches in flight, and `waiting' bytes per
 * sample of skips that wait. */
static inline double stage_bytes(const stage_cost *c, int n, double waiting,
				 double samples)
{
	return c->fixed + n * c->kept + waiting * samples;
}

#endif
