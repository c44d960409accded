/* The steps of making a descriptor, shared by the files descriptor*.c alone. */
#ifndef TDL_COMPILER_ANALYSIS_DESCRIPTOR_BUILD_H
#define TDL_COMPILER_ANALYSIS_DESCRIPTOR_BUILD_H

#include "compiler/analysis/descriptor.h"
#include "compiler/analysis/symbolic.h"

/* The dimension of an input that a derived variable runs over. */
typedef struct derived_dim {
	int input, dim;
} derived_dim;

/* Fills in s->strategies; derived is by variable.  Marks in assumed the
 * attributes that had to be assumed >= 0. */
void descriptor_strategies(arena *a, const sym_op *op, const sym_stage *x,
			   const derived_dim *derived, desc_stage *s,
			   bool *assumed);

/* The name of the library pattern that the stage matches; NULL if none. */
const char *descriptor_pattern(const sym_op *op, const sym_stage *x);

#endif
