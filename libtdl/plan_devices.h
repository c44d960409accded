/* Plans of operators whole on devices, by an algorithm that places them. */
#ifndef TDL_LIBTDL_PLAN_DEVICES_H
#define TDL_LIBTDL_PLAN_DEVICES_H

#include "libtdl/plan_search.h"

/* Whether there is such an algorithm. */
bool plan_places(const char *algorithm);

/* The names of those that do, with commas. */
const char *plan_placing_names(arena *a);

/* Whether the other options go with it; if not, with a message. */
bool plan_places_with(job *d, const plan_options *o);

/* plan_search() with it; the graph is not in turns. */
cli_status plan_devices_search(job *d, const plan_request *how,
			       plan_result *r, bool *made);

#endif
