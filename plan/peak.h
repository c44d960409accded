/* The contents of a worker's memory at the instant of greatest use. */
#ifndef TDL_PLAN_PEAK_H
#define TDL_PLAN_PEAK_H

#include "plan/lifetimes.h"

typedef struct plan_use {
	int buffer;
	int64_t nbytes;
} plan_use;

typedef struct plan_peak {
	int instr; /* -1: before the first; ninstrs: after the last */
	int64_t nbytes;
	int n;
	plan_use *uses; /* they add up to nbytes; largest first */
} plan_peak;

/* The peak of a complete plan, in a.  Gaps between buffers are not counted, so
 * the arena may be a little larger. */
plan_peak plan_find_peak(arena *a, const plan *p);

/* The bytes in use at each instant, by kind: used[k][t + 1], in a, for t from
 * -1 to ninstrs, sums the buffers of kind[] k.  A place that buffers share
 * counts as the kind of its first buffer. */
void plan_use_in_time(arena *a, const plan *p, const int *kind, int nkinds,
		      int64_t **used);

/* The bytes of the peak alone; f has the plan's layout classes. */
int64_t plan_peak_bytes(const plan *p, layout_classes *f);

#endif
