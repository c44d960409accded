/* The contents of a worker's memory at the instant of greatest use. */
#ifndef TDL_PLAN_PEAK_H
#define TDL_PLAN_PEAK_H

#include "plan/lifetimes.h"

typedef struct plan_use {
	int buffer;
	int64_t nbytes;
} plan_use;

typedef struct plan_peak {
	int instr; /* -1: before the first, ninstrs: after the last */
	int64_t nbytes;
	int n;
	plan_use *uses; /* that add up to nbytes, the largest first */
} plan_peak;

/* Of a whole plan, in a.  Gaps between buffers are not counted: the arena is as
 * large as the sum or a little larger. */
plan_peak plan_find_peak(arena *a, const plan *p);

/* The bytes in use at each instant, by kind: used[k][t + 1], in a, for t from
 * -1 to ninstrs, of the buffers whose kind is k.  A place that buffers take
 * over from each other counts as the kind of the first of them. */
void plan_use_in_time(arena *a, const plan *p, const int *kind, int nkinds,
		      int64_t **used);

/* Its bytes alone, with the forms of the plan. */
int64_t plan_peak_bytes(const plan *p, layout_classes *f);

#endif
