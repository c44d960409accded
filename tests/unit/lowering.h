/* Plans of lowered graphs, checked. */
#ifndef TDL_TESTS_UNIT_LOWERING_H
#define TDL_TESTS_UNIT_LOWERING_H

#include "compiler/lower/lower.h"

/* The plan, of which every worker's part is checked. */
plan *lower_by(arena *a, const graph *g, const assignment *as,
	       const lower_options *how);

/* Instructions that copy the next value of a state. */
int count_updates(const plan *p);

#endif
