/* The exact program over stages, layers and devices: divides a sequence of
 * layers among a sequence of devices so that a step takes the least time.
 *
 * A step of M micro-batches takes the seconds of all stages, plus M - 1 times
 * those of the longest, plus what each cut adds.  For each longest time that
 * occurs, the least sum is found stage by stage from the last one on, because
 * the micro-batches in flight are then known. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_PROGRAM_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_PROGRAM_H

#include "base/arena.h"
#include "compiler/cost/schedule.h"

typedef struct pipeline_problem {
	/* Devices are in a sequence of groups; a stage has one or more
	 * consecutive groups, or, if `single' is set, exactly one. */
	int nlayers, ngroups;
	bool single;
	int least_stages, most_stages;
	int micro_batches;
	/* Finds the least longest stage, and of those splits the least sum,
	 * instead of the least step. */
	bool least_longest;
	/* Determines the micro-batches in flight; not interleaved. */
	pipeline_schedule kind;
	/* Seconds per micro-batch of a stage with layers [i, j) on groups [a,
	 * b), with in_flight micro-batches in flight and `behind' stages after
	 * it; INFINITY if it is impossible. */
	double (*seconds)(void *of, int i, int j, int a, int b, int in_flight,
			  int behind);
	/* Seconds that a cut before layer j adds if group b is the first one
	 * after it. */
	double (*between)(void *of, int j, int b);
	void *of;
} pipeline_problem;

typedef struct pipeline_split {
	int nstages;
	/* nstages + 1 elements: first layers, first groups */
	int *first, *group;
	/* of a step, unless the least longest stage is asked for; of a
	 * stage */
	double seconds, longest;
	bool proven; /* no other split takes less, by these seconds */
} pipeline_split;

/* Whether any split is possible; for zero bubble, with micro-batches in flight
 * as of stages counted from the last. */
bool pipeline_program_possible(const pipeline_problem *p);

/* Finds the best split, in a; false if there is none. */
bool pipeline_program_solve(arena *a, const pipeline_problem *p,
			    pipeline_split *best);

#endif
