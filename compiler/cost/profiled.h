/* Predictions by profiles (plan/profile.h): times of what was measured, and of
 * what is like it by how much the machine's curves, or its roofline, were wrong
 * there. */
#ifndef TDL_COMPILER_COST_PROFILED_H
#define TDL_COMPILER_COST_PROFILED_H

#include "compiler/cost/topology.h"
#include "plan/profile.h"

/* The machine, with what was measured on it; in a.  The profile has to live as
 * long. */
const topology *topology_profiled(arena *a, const topology *t,
				  const profile *p);

/* The time of a kernel of this structure relative to the modelled one, by those
 * that were measured: each counts the more the nearer the logarithms of its
 * extents and of its number of devices are.  *exact is the time of the one that
 * is the same; 0: there is none.  0 where none was measured. */
double profiled_kernel(const profiled *x, uint64_t structure, const box *part,
		       int nvars, int devices, double *exact);

/* The same of a transfer among so many workers. */
double profiled_transfer(const profiled *x, collective c, int devices,
			 double received, double written, double *exact);

#endif
