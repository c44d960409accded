/* Random numbers, and random layouts of small graphs. */
#ifndef TDL_TESTS_UNIT_RANDOM_LAYOUTS_H
#define TDL_TESTS_UNIT_RANDOM_LAYOUTS_H

#include "compiler/planners/search.h"
#include "plan/plan.h"

/* xorshift64*: the same on every machine. */
typedef struct rng {
	uint64_t state;
} rng;

rng rng_new(uint64_t seed);
int rng_below(rng *r, int n);

/* Any cuts that are possible, on one of several small meshes; a state and what
 * it becomes have the same. */
assignment random_assignment(arena *a, rng *r, const graph *g);
assignment random_assignment_on(arena *a, rng *r, const graph *g,
				const mesh *m);

#endif
