/* Placement files:
 *
 *	{"format": "tdl-placement", "version": 1, "devices": K,
 *	 "placement": [{"id": .., "device": d}, ..]}
 *
 * with ids as in the file of the cost graph, and devices from 0. */
#ifndef TDL_COMPILER_PLACEMENT_PLACEMENT_FILE_H
#define TDL_COMPILER_PLACEMENT_PLACEMENT_FILE_H

#include "base/json.h"

#include "compiler/placement/cost_graph.h"

/* Reads a device for each operator, in a: 0 .. naccelerators - 1, then the
 * cores.  For a file made for another number of devices, it is an error if it
 * uses a device that means another one here, otherwise a warning.  In profiles,
 * a layer whose backward operator (ID') is not in the file has it on the
 * forward one's device.  Returns NULL after adding errors. */
int *placement_read(arena *a, diag_sink *s, const char *path,
		    const cost_graph *g, int naccelerators, int ncores);

/* Names two operators that share memory but are placed on two devices, which no
 * placement file may do; NULL if there are none. */
const char *placement_parted(arena *a, const cost_graph *g, const int *place);

/* The list "placement", and the whole file; new references. */
json_t *placement_list(const cost_graph *g, const int *place);
json_t *placement_json(const cost_graph *g, const int *place, int ndevices);

#endif
