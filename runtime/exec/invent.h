/* Values for inputs of a plan that nobody gives. */
#ifndef TDL_RUNTIME_EXEC_INVENT_H
#define TDL_RUNTIME_EXEC_INVENT_H

#include "plan/plan.h"
#include "runtime/exec/npz.h"

/* Fills the inputs with arange(n) / n: element i of n is i / n.  Integers count
 * 0, 1, 2, .. and restart at the extent of the smallest dimension that they
 * index, or at 128 if they index none; a bool is true for odd i. */
void invent_inputs(const plan *p, const array *inputs);

#endif
