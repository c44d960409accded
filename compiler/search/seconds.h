/* How long an instruction of a program takes on a machine. */
#ifndef TDL_COMPILER_SEARCH_SECONDS_H
#define TDL_COMPILER_SEARCH_SECONDS_H

#include "compiler/search/topology.h"
#include "plan/plan.h"

/* Seconds that the slowest worker takes; of more than `most` so many evenly
 * spaced ones are looked at, the first and the last among them.  Of the plan
 * the mesh, the kernels, and what the instruction is about have to be there. */
double seconds_of(const plan *p, const topology *t, const plan_instr *in,
		  int most);

#endif
