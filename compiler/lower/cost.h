/* The predicted time of a plan on a machine, instruction by instruction.  Used
 * by the portfolio and by reports; seconds.h has the model of one
 * instruction. */
#ifndef TDL_COMPILER_LOWER_COST_H
#define TDL_COMPILER_LOWER_COST_H

#include "compiler/cost/topology.h"
#include "plan/plan.h"

/* A run of a program, in seconds.  Each instruction takes as long as its
 * slowest worker, of at most 64 that instr_time() looks at. */
typedef struct lower_times {
	double run; /* from its beginning to its end */
	/* Sums over the instructions: those that receive from other workers,
	 * and the others.  The run takes their total, or less on a machine that
	 * communicates while it computes (topology.overlap; timeline.h). */
	double communication, computation;
} lower_times;

lower_times lower_time(const plan *p, const topology *t);

/* The run alone. */
double lower_seconds(const plan *p, const topology *t);

#endif
