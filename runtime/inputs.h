/* What a plan's inputs are fed with. */
#ifndef TDL_RUNTIME_INPUTS_H
#define TDL_RUNTIME_INPUTS_H

#include "plan/plan.h"
#include "runtime/npz.h"

/* Memory for the plan's inputs, or its outputs; NULL, with *f set, if there is
 * not enough.  arrays_free() frees it. */
array *arrays_of(arena *a, const plan *p, const int *tensors, int n,
		 failure *f);
void arrays_free(array *x, int n);

/* Fills the inputs from a file, which must have exactly them. */
bool inputs_read(arena *a, const array *inputs, int n, const char *path,
		 failure *f);

/* Fills the inputs with arange(n) / n: element i of n is i / n.  Integers
 * count 0, 1, 2, .. and begin again at the extent of the smallest dimension
 * that they index, at 128 where they index none; a bool is true for odd i. */
void inputs_invent(const plan *p, const array *inputs);

#endif
