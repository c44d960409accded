/* How long an instruction of a program takes on a machine. */
#ifndef TDL_COMPILER_SEARCH_SECONDS_H
#define TDL_COMPILER_SEARCH_SECONDS_H

#include "compiler/search/topology.h"
#include "plan/plan.h"

/* Seconds that the slowest worker takes, of 64 evenly spaced ones where there
 * are more.  Of the plan the mesh, the kernels, and what the instruction is
 * about have to be there. */
double seconds_of(const plan *p, const topology *t, const plan_instr *in);

#endif
