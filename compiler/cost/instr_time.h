/* The time model: predicted seconds of one instruction of a program on a
 * machine. */
#ifndef TDL_COMPILER_COST_INSTR_TIME_H
#define TDL_COMPILER_COST_INSTR_TIME_H

#include "compiler/cost/topology.h"
#include "plan/plan.h"

/* Seconds of the slowest worker.  If there are more than `most' workers, `most'
 * of them are examined, evenly spaced from the first to the last.  The plan's
 * mesh, kernels and everything that the instruction refers to have to be
 * set. */
double instr_time(const plan *p, const topology *t, const plan_instr *in,
		  int most);

#endif
