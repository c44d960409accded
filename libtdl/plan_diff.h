/* The differences between two plans. */
#ifndef TDL_LIBTDL_PLAN_DIFF_H
#define TDL_LIBTDL_PLAN_DIFF_H

#include <stdio.h>

#include "base/json.h"
#include "base/vec.h"
#include "compiler/cost/topology.h"
#include "plan/pipeline.h"

typedef struct plan_pair {
	arena *arena;
	const plan_pipeline *plan[2]; /* of one stage or of several */
	const topology *machine;
	double seconds[2]; /* per step, on machine */
} plan_pair;

/* The meaning of a name in each plan; NULL if it has none. */
typedef struct plan_difference {
	const char *name;
	/* "cut 0, partial(Sum)"; with micro-batches "cut 0; over time cut 0";
	 * with several stages "stage 0: cut 0", for each that has it. */
	const char *was, *is;
} plan_difference;

typedef VEC(plan_difference) plan_differences;

/* The tensors that are held differently, or the operators that are divided
 * differently: in the order of the first plan, then names that only the second
 * has. */
plan_differences plan_compare(const plan_pair *d, bool operators);

/* The turns of the loop, 1 without one; the largest arena of any stage; the
 * number of buckets, and of the reductions in them. */
int plan_micro_batches(const plan_pipeline *p);
int64_t plan_most_memory(const plan_pipeline *p);
int plan_all_buckets(const plan_pipeline *p, int *reductions);

/* The output of `tdlc diff --json'. */
json_t *plan_diff_json(const plan_pair *d, const plan_differences *tensors,
		       const plan_differences *operators);
/* The same without --json. */
void plan_diff_text(FILE *to, const plan_pair *d,
		    const plan_differences *tensors,
		    const plan_differences *operators);

#endif
