/* Figures of a placement besides its makespan: loads of devices, and lower
 * bounds. */
#ifndef TDL_COMPILER_PLACEMENT_FIGURES_H
#define TDL_COMPILER_PLACEMENT_FIGURES_H

#include "compiler/placement/machine.h"

/* The load of each device in ns, in a: the time of its operators, plus the
 * transfers of results that it sends or receives, each result once (Tarnawski
 * et al., NeurIPS 2020).  Devices from m->ndevices on are processor cores, for
 * which transfers do not count; ndevices includes them. */
int64_t *place_loads(arena *a, const machine *m, const int *place,
		     int ndevices);

/* Lower bounds of the makespan of every placement, and the greatest of them:
 *
 * - path: the longest path of operators, each on its fastest device; - work:
 *   the work of all operators, each on its fastest device, divided by
 *    the number of devices;
 * - cut: for each connected part of the graph, its work on the fastest
 *    device if it may be on one, or the least path over an edge between
 *    devices. */
typedef struct place_bounds {
	int64_t path, work, cut, greatest;
} place_bounds;

place_bounds place_bound(const machine *m);

#endif
