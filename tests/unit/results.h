/* The properties of every planner's result. */
#ifndef TDL_TESTS_UNIT_RESULTS_H
#define TDL_TESTS_UNIT_RESULTS_H

#include "compiler/planners/search.h"

/* Its bytes are those of the byte model, in all and by axis, states are laid
 * out as what they become, and the bound is one. */
void check_result(const graph *g, const search_result *r, int k);

/* The same for a planner that chooses axis after axis: each node's bytes are
 * those that the axis adds. */
void check_result_by_step(const graph *g, const search_result *r, int k);

#endif
