/* The check of a memory plan, independent of how it was made. */
#ifndef TDL_PLAN_OVERLAP_H
#define TDL_PLAN_OVERLAP_H

#include "plan/plan.h"

/* Whether some buffer *x is overwritten by another, *y, while it is in use. */
bool plan_overlap(const plan *p, int *x, int *y);

#endif
