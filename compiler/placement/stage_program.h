/* Dynamic programs over stages that differ in their devices and in the ways in
 * which these compute them.
 *
 * Stages are placed from the last one on, so that the micro-batches in flight
 * are known: the state is (stages behind, first layer of these, devices used),
 * and each step places a stage of any length in any way before them.  A stage
 * within limits is extended only if the least sum of times for the layers
 * before it, on the devices that are left, whatever is in flight there, can
 * make a whole plan within the greatest sum. */
#ifndef TDL_COMPILER_PLACEMENT_STAGE_PROGRAM_H
#define TDL_COMPILER_PLACEMENT_STAGE_PROGRAM_H

#include <stdint.h>

#include "compiler/cost/schedule.h"
#include "compiler/placement/stage_cost.h"

enum {
	STAGE_MAX_WAYS = 1 << 10,
	/* Costs of intervals, by way; states. */
	STAGE_MAX_COSTS = 1 << 23,
	STAGE_MAX_STATES = 1 << 24,
};

typedef struct stage_problem {
	const stage_costs *costs;
	const stage_way *ways;
	int nways;
	pipeline_schedule schedule;
	int micro_batches;
	int samples;   /* of a micro-batch; replicas of a way divide them */
	int devices;   /* at most */
	int in_flight; /* in all stages; 0: as many as stages behind and one,
			  micro_batches at most.  The searches of
			  stage_search.h take it from the schedule. */
	int least_stages, most_stages; /* 1 <= least <= most <= layers */
	double cap;		       /* bytes of a device */
} stage_problem;

/* Stage s has the layers [first[s], first[s + 1]). */
typedef struct stage_plan {
	int nstages, *first, *way; /* first: nstages + 1 */
} stage_plan;

typedef struct stage_limits {
	double memory, time, sync; /* of a stage */
	double most;		   /* a result has to be below */
	/* By layer, how many stages may be behind it; NULL: any number.  Skips
	 * wait at their producer as if as many stages as may be were behind
	 * their reader, so that their bytes are a lower bound.  With
	 * most_behind alone that is all it says. */
	const int *least_behind, *most_behind;
} stage_limits;

typedef struct stage_program stage_program;

/* Whether the tables of a problem are small enough. */
bool stage_program_fits(const stage_problem *p);

/* The tables of costs, in a.  The problem is copied. */
stage_program *stage_program_new(arena *a, const stage_problem *p);

/* All different times and exchanges of a stage, n of each, of that way and
 * interval. */
typedef struct stage_values {
	size_t n;
	const double *times, *syncs;
} stage_values;

stage_values stage_program_values(arena *a, const stage_program *g);

/* The least sum of times within the limits, or the least peak, and its plan in
 * plan, which has room for most_stages; INFINITY if there is none. */
double stage_program_sum(stage_program *g, const stage_limits *max,
			 stage_plan *plan);
double stage_program_peak(stage_program *g, const stage_limits *max,
			  stage_plan *plan);

/* Lower bounds of the longest time and of the sum of times, from limits of
 * memory, with as few micro-batches in flight as there may be; INFINITY if
 * nothing fits. */
double stage_program_longest(stage_program *g, double memory);
double stage_program_least_sum(stage_program *g, double memory);

/* About as many steps as a program takes. */
int64_t stage_program_work(const stage_program *g);

/* Micro-batches in flight in a stage. */
int stage_in_flight_of(const stage_problem *p, int behind);

/* The bytes of a way with n micro-batches in flight and, of a sample, so many
 * bytes of skips that wait. */
static inline double stage_bytes(const stage_cost *c, int n, double waiting,
				 double samples)
{
	return c->fixed + n * c->kept + waiting * samples;
}

#endif
