/* Plans that put whole operators on devices, by an algorithm that places
 * them. */
#ifndef TDL_LIBTDL_PLAN_DEVICES_H
#define TDL_LIBTDL_PLAN_DEVICES_H

#include "libtdl/plan_search.h"

/* Whether there is a placing algorithm of that name. */
bool plan_places(const char *algorithm);

/* The names of the placing algorithms, separated by commas. */
const char *plan_placing_names(arena *a);

/* Whether the other options suit it; prints a message if not. */
bool plan_places_with(job *d, const plan_options *o);

/* plan_search() with such an algorithm, for a graph that is not in turns. */
cli_status plan_devices_search(job *d, const plan_request *how,
			       plan_result *r, bool *made);

#endif
