/* Plans of random graphs, for tests that cannot include random_graph.h. */
#ifndef TDL_TESTS_UNIT_RANDOM_PLAN_H
#define TDL_TESTS_UNIT_RANDOM_PLAN_H

#include "plan/plan.h"

/* The plan of a random graph of about nnodes nodes under a random layout, with
 * kernels' sources if asked for. */
plan *random_plan(arena *a, uint64_t seed, int nnodes, bool sources);

/* A plan of random_training(), for the interpreter, which has states.  The same
 * seed gives the same graph on any mesh; m is NULL for a random mesh. */
plan *random_training_plan(arena *a, uint64_t seed, int nnodes, const mesh *m);

/* A small plan with inputs, for three workers or more. */
plan *random_parallel_plan(arena *a);

/* The same with its reductions in buckets, of a size that the seed draws. */
int64_t random_bucket_bytes(uint64_t seed);
plan *in_buckets(arena *a, plan *p, uint64_t seed);

#endif
