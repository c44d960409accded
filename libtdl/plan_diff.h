/* The differences between two plans. */
#ifndef TDL_LIBTDL_PLAN_DIFF_H
#define TDL_LIBTDL_PLAN_DIFF_H

#include <stdio.h>

#include "base/json.h"
#include "base/vec.h"
#include "compiler/cost/topology.h"
#include "plan/plan.h"

typedef struct plan_pair {
	arena *arena;
	const plan *plan[2];
	const topology *machine;
} plan_pair;

/* The meaning of a name in both plans; NULL: none. */
typedef struct plan_difference {
	const char *name;
	const char *was, *is; /* "cut 0, partial(Sum)", and in a plan with
				 micro-batches "cut 0; over time cut 0" */
} plan_difference;

typedef VEC(plan_difference) plan_differences;

/* The tensors that are held differently, or the operators that are divided
 * differently: in the order of the first plan, then names that only the second
 * has. */
plan_differences plan_compare(const plan_pair *d, bool operators);

/* The turns of its loop; 1 without. */
int plan_micro_batches(const plan *p);

/* The output of `tdlc diff --json'. */
json_t *plan_diff_json(const plan_pair *d, const plan_differences *tensors,
		       const plan_differences *operators);
/* The same without --json. */
void plan_diff_text(FILE *to, const plan_pair *d,
		    const plan_differences *tensors,
		    const plan_differences *operators);

#endif
