/* Random layouts in which values stay partial. */
#ifndef TDL_TESTS_UNIT_STAY_PARTIAL_H
#define TDL_TESTS_UNIT_STAY_PARTIAL_H

#include "compiler/cost/assignment.h"
#include "tests/unit/draw.h"

/* Leaves some results partial, as far as an assignment makes them so along some
 * axis and all their readers can hand them on; these then do.  Returns how many
 * there are, axes counted. */
int stay_partial(arena *a, uint64_t seed, const graph *g, assignment *as);

#endif
