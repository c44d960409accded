/* What the planner `levels` searches, for those who ask it several times. */
#ifndef TDL_COMPILER_SEARCH_LEVELS_H
#define TDL_COMPILER_SEARCH_LEVELS_H

#include "compiler/search/timed.h"

/* Everything but prices. */
typedef struct level_tables level_tables;

/* In a, for requests of the same graph, mesh, topology and pins.  NULL where
 * there are too many ways. */
level_tables *level_tables_new(arena *a, const graph *g,
			       const search_request *q);

#endif
