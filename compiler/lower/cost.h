/* How long a plan takes on a machine. */
#ifndef TDL_COMPILER_LOWER_COST_H
#define TDL_COMPILER_LOWER_COST_H

#include "compiler/search/topology.h"
#include "plan/plan.h"

/* Seconds that one run of the program takes: an instruction after the other,
 * each as long as its slowest worker takes.  Of more than 64 workers 64 evenly
 * spaced ones are looked at. */
double lower_seconds(const plan *p, const topology *t);

#endif
