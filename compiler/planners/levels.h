/* Reusable cost tables of the planner `levels' (levels.c), for callers that
 * plan the same graph many times with different prices. */
#ifndef TDL_COMPILER_PLANNERS_LEVELS_H
#define TDL_COMPILER_PLANNERS_LEVELS_H

#include "compiler/cost/time_model.h"
#include "compiler/planners/planner.h"

/* Costs of the choices of one graph on one mesh and topology. */
typedef struct level_tables level_tables;

/* In a, for requests with the same graph, mesh and topology. */
level_tables *level_tables_new(arena *a, const search_request *q);

#endif
