#ifndef TDL_TESTS_RANDOM_GENERATE_FACTS_H
#define TDL_TESTS_RANDOM_GENERATE_FACTS_H

#include "tests/random/generate.h"

/* An operator "f" of one expression over floats x and y, integers k and l and
 * bools on.  The same seed gives the same operator. */
random_operator random_facts_new(arena *a, uint64_t seed);

/* Whether it has no constants that are folded, or that sizes are, so that the
 * same follows without shapes. */
bool random_facts_are_plain(uint64_t seed);

#endif
