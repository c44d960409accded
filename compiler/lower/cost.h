/* The predicted time of a plan on a machine, instruction by instruction.  Used
 * by the portfolio and by reports; seconds.h has the model of one
 * instruction. */
#ifndef TDL_COMPILER_LOWER_COST_H
#define TDL_COMPILER_LOWER_COST_H

#include "compiler/cost/instr_times.h"

/* A run of a program, in seconds.  Each instruction takes as long as its
 * slowest worker, of at most 64 that instr_time() looks at. */
typedef struct lower_times {
	double run; /* from its beginning to its end */
	/* Sums over the instructions: those that receive from other workers,
	 * and the others.  The run takes their total, or less on a machine that
	 * communicates while it computes (topology.overlap; timeline.h). */
	double communication, computation;
	/* Bounds for all programs of the plan's assignment, whatever copies
	 * they keep and whatever the order of their nodes: of `run', and of the
	 * bytes that are moved.  Each runs the same nodes, brings their results
	 * to where they are stored, and fetches each tensor that is fetched
	 * here at least once, as one of these fetches does or as one that
	 * covers it. */
	double least;
	int64_t least_moved;
	/* A bound of `run' for programs by the same schedule that keep some of
	 * these copies: they have all these instructions, and more fetches. */
	double least_kept;
} lower_times;

lower_times lower_time(const plan *p, const topology *t);

lower_times lower_time_with(instr_times *x, const plan *p);

/* All of it but the run, which is 0: this does not depend on places. */
lower_times lower_bounds(instr_times *x, const plan *p);

/* The run alone. */
double lower_run(instr_times *x, const plan *p);

/* Turns of a loop that are looked at first, of a program whose turns all take
 * the same; PLAN_MAX_TURNS: of others, and where that is not worth while. */
int lower_few_turns(instr_times *x, const plan *p);

/* The instructions of a run of a program without a loop (plan_unroll()): the
 * seconds that each takes, and the instant at which it ends.  ninstrs of
 * both. */
void lower_instants(instr_times *x, const plan *p, double *seconds,
		    double *end);

/* The run alone. */
double lower_seconds(const plan *p, const topology *t);

/* Seconds that each instruction computes, and that it communicates, in one of
 * the larger turns; one of the two is 0.  Of those that are one, up to
 * plan_phase_end(), the first has all.  ninstrs of both. */
void lower_efforts(instr_times *x, const plan *p, double *computing,
		   double *moving);

/* A turn of a plan with a loop, on a machine that communicates while it
 * computes, if no instruction waited for memory.  The places are not needed. */
double lower_turn(instr_times *x, const plan *p);

/* Seconds of the parts of the program of a stage of a pipeline: of each pass,
 * in one of the larger turns, and of what is once per run.  Messages are not
 * counted.  On a machine that communicates while it computes a part takes as
 * long as the longer of both. */
typedef struct lower_passes {
	double pass[PASS_WEIGHT + 1], once;
} lower_passes;

lower_passes lower_pass_times(const plan *stage, const topology *t);

#endif
