/* The layout classes of a plan's buffers and instructions. */
#ifndef TDL_PLAN_CLASSES_H
#define TDL_PLAN_CLASSES_H

#include "layout/layout_classes.h"
#include "plan/plan.h"

/* The layout class of a buffer. */
int plan_buffer_class(layout_classes *f, const plan *p, const plan_buffer *b);

/* The pair of classes of an instruction.  Instructions with the same number do
 * the same work on every worker, at other addresses. layout_pair_received() and
 * layout_pair_collective() give what it receives, and its collective.  Messages
 * between stages have no class: their other end is in another plan. */
int plan_instr_class(layout_classes *f, const plan *p, const plan_instr *in);

#endif
