/* The exact program over stages, layers and devices: how a row of layers is
 * divided among devices in a row, so that a step takes the least time.
 *
 * A step of M micro-batches takes the seconds of all stages, and M - 1 times
 * those of the longest, and what each cut adds.  For each longest time that
 * occurs the least sum is found by stages from the last one on, since it is
 * known of these how many micro-batches are in flight. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_PROGRAM_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_PROGRAM_H

#include "base/arena.h"
#include "compiler/cost/schedule.h"

typedef struct pipeline_problem {
	/* Devices are in groups, in a row; a stage has one or more that follow
	 * each other, or, where `single' is set, one. */
	int nlayers, ngroups;
	bool single;
	int least_stages, most_stages;
	int micro_batches;
	/* Micro-batches in flight follow from it; not interleaved. */
	pipeline_schedule kind;
	/* Seconds of a micro-batch in a stage of layers [i, j) on groups [a,
	 * b), of which that many are in flight, with so many stages behind it;
	 * INFINITY where it cannot be. */
	double (*seconds)(void *of, int i, int j, int a, int b, int in_flight,
			  int behind);
	void *of;
	const double *between; /* by layer: seconds that a cut before it adds */
} pipeline_problem;

typedef struct pipeline_split {
	int nstages;
	int *first, *group; /* nstages + 1: layers, groups */
	double seconds, longest; /* of a step; of a stage */
	bool proven; /* no other takes less, by these seconds */
} pipeline_split;

/* Whether there is any split, of zero bubble with micro-batches in flight as of
 * stages that are counted from the last. */
bool pipeline_program_possible(const pipeline_problem *p);

/* The best split, in a; false where there is none. */
bool pipeline_program_solve(arena *a, const pipeline_problem *p,
			    pipeline_split *best);

#endif
