/* Predictions from profiles (plan/profile.h): the measured time if there is
 * one; else the modelled time, corrected by the error of the machine's curves
 * or roofline on similar measurements. */
#ifndef TDL_COMPILER_COST_PROFILED_H
#define TDL_COMPILER_COST_PROFILED_H

#include "compiler/cost/topology.h"
#include "plan/profile.h"

/* The machine with its measurements, in a.  The profile must outlive it. */
const topology *topology_profiled(arena *a, const topology *t,
				  const profile *p);

/* The ratio of measured to modelled time for a kernel of this structure: a mean
 * over the measurements, weighted by how near the logarithms of extents and
 * numbers of devices are. 0 if there are none. *exact receives the measured
 * time of the same extents and number of devices; 0 if there is none. */
double profiled_kernel(const profiled *x, uint64_t structure, const box *part,
		       int nvars, int devices, double *exact);

/* The same for a transfer among `devices' workers. */
double profiled_transfer(const profiled *x, collective c, int devices,
			 double received, double written, double *exact);

#endif
