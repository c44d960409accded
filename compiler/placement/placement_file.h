/* Placement files:
 *	{"format": "tdl-placement", "version": 1, "devices": K,
 *	 "placement": [{"id": .., "device": d}, ..]}
 * ids as in the file of the cost graph, devices from 0. */
#ifndef TDL_COMPILER_PLACEMENT_PLACEMENT_FILE_H
#define TDL_COMPILER_PLACEMENT_PLACEMENT_FILE_H

#include "base/json.h"

#include "compiler/placement/cost_graph.h"

/* A device for each operator: 0 .. naccelerators - 1, behind them the cores.  A
 * file for another number of devices is an error if it uses a device that is a
 * different one here, else a warning.  Of profiles, a layer whose backward
 * operator (ID') is not in the file has it with its forward one.  NULL when
 * errors were added. */
int *placement_read(arena *a, diag_sink *s, const char *path,
		    const cost_graph *g, int naccelerators, int ncores);

/* NULL, or which two operators that share memory lie on two devices: no
 * placement file has them so. */
const char *placement_parted(arena *a, const cost_graph *g, const int *place);

/* The list "placement", and the whole file; new references. */
json_t *placement_list(const cost_graph *g, const int *place);
json_t *placement_json(const cost_graph *g, const int *place, int ndevices);

#endif
