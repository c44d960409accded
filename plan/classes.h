/* The layout classes of a plan's buffers and instructions. */
#ifndef TDL_PLAN_CLASSES_H
#define TDL_PLAN_CLASSES_H

#include "layout/layout_classes.h"
#include "plan/plan.h"

/* The class of a buffer. */
int plan_buffer_class(layout_classes *f, const plan *p, const plan_buffer *b);

/* The pair of classes of an instruction: two with the same number do the same
 * on every worker, at other addresses.  What it receives, and which collective
 * it is: layout_pair_received(), layout_pair_collective().  A message between
 * stages has no class: its other end is in another plan. */
int plan_instr_class(layout_classes *f, const plan *p, const plan_instr *in);

#endif
