/* The predicted time of a plan on a machine, instruction by instruction.  Used
 * by the portfolio and by reports. instr_time.h has the model of one
 * instruction. */
#ifndef TDL_COMPILER_LOWER_COST_H
#define TDL_COMPILER_LOWER_COST_H

#include "compiler/cost/instr_times.h"

/* The times of a run of a program, in seconds.  Each instruction takes as long
 * as its slowest worker; instr_time() looks at no more than 64. */
typedef struct lower_times {
	double run; /* from beginning to end */
	/* Sums over the instructions that receive from other workers, and over
	 * the others.  The run takes their total, or less on a machine that
	 * communicates while it computes (topology.overlap; timeline.h). */
	double communication, computation;
	/* Lower bounds of `run', and of the bytes moved, for all programs of
	 * the plan's assignment, whatever copies they keep and in whatever
	 * order.  Each runs the same nodes, brings their results to where they
	 * are stored, and fetches each tensor that is fetched here at least
	 * once, by one of these fetches or one that covers it. */
	double least;
	int64_t least_moved;
	/* A lower bound of `run' for programs with the same schedule that keep
	 * some of these copies: they have all these instructions, and more
	 * fetches. */
	double least_kept;
} lower_times;

lower_times lower_time(const plan *p, const topology *t);

lower_times lower_time_with(instr_times *x, const plan *p);

/* All of it except run, which is 0.  Does not depend on places. */
lower_times lower_bounds(instr_times *x, const plan *p);

/* Only the run. */
double lower_run(instr_times *x, const plan *p);

/* The number of turns of a loop to look at first, if all turns take the same
 * time; PLAN_MAX_TURNS if they do not, or if looking at few is not worth
 * while. */
int lower_few_turns(instr_times *x, const plan *p);

/* For each instruction of a program without a loop (plan_unroll()): the seconds
 * that it takes, and the instant at which it ends.  Both have ninstrs
 * elements. */
void lower_instants(instr_times *x, const plan *p, double *seconds,
		    double *end);

/* Only the run. */
double lower_seconds(const plan *p, const topology *t);

/* Seconds that each instruction computes, and that it communicates, in one of
 * the larger turns; one of the two is 0.  The first instruction of a phase, up
 * to plan_phase_end(), has the seconds of the whole phase.  Both have ninstrs
 * elements. */
void lower_efforts(instr_times *x, const plan *p, double *computing,
		   double *moving);

/* Seconds of a turn of a plan with a loop, on a machine that communicates while
 * it computes, if no instruction waited for memory.  Buffers need no places. */
double lower_turn(instr_times *x, const plan *p);

/* Seconds of the parts of the program of a stage of a pipeline: each pass, in
 * one of the larger turns, and the part that runs once.  Messages are not
 * counted.  On a machine that communicates while it computes, a part takes the
 * longer of both times. */
typedef struct lower_passes {
	double pass[PASS_WEIGHT + 1], once;
} lower_passes;

lower_passes lower_pass_times(const plan *stage, const topology *t);

#endif
