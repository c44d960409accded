/* The least load over chains of ideals: the dynamic program of load.h. */
#ifndef TDL_COMPILER_PLACEMENT_LOAD_CHAIN_H
#define TDL_COMPILER_PLACEMENT_LOAD_CHAIN_H

#include "compiler/placement/ideals.h"
#include "compiler/placement/load.h"

#define LOAD_NONE INT64_MAX

/* The least of the greatest loads, at most `most', if every part is the
 * difference of two of the sets; LOAD_NONE if there is no such chain, or none
 * is found before the deadline.  device[v] receives the device of group v. */
int64_t load_chain(const groups *r, const ideals *sets, const load_options *o,
		   int64_t most, int *device);

#endif
