/* Plans for tests of the plan's file: of random graphs, some of them training,
 * some with text where the sources of kernels would be. */
#ifndef TDL_TESTS_UNIT_PLAN_OF_SEED_H
#define TDL_TESTS_UNIT_PLAN_OF_SEED_H

#include "plan/plan.h"

/* Text where the sources of a kernel would be, and a launch. */
void seed_sources(arena *a, plan_kernel *pk);

plan *plan_of_seed(arena *a, int seed);

/* Reads a text as x.plan; what is wrong with it goes to a new *s. */
plan *parse_plan(arena *a, const char *text, size_t len, diag_sink **s);

#endif
