/* A check of a memory plan that does not rely on how the plan was made. */
#ifndef TDL_PLAN_OVERLAP_H
#define TDL_PLAN_OVERLAP_H

#include "plan/plan.h"

/* Whether a buffer *y overwrites another, *x, while that is in use. */
bool plan_overlap(const plan *p, int *x, int *y);

#endif
