/* What the planner `levels` searches, for those who ask it several times. */
#ifndef TDL_COMPILER_SEARCH_LEVELS_H
#define TDL_COMPILER_SEARCH_LEVELS_H

#include "compiler/search/timed.h"

/* What choices cost. */
typedef struct level_tables level_tables;

/* In a, for requests of the same graph, mesh and topology. */
level_tables *level_tables_new(arena *a, const search_request *q);

#endif
