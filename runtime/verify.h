/* Comparing a run with that of one worker. */
#ifndef TDL_RUNTIME_VERIFY_H
#define TDL_RUNTIME_VERIFY_H

#include "plan/plan.h"
#include "runtime/npz.h"

typedef struct comparison {
	bool equal; /* as much as it has to be */
	bool exact; /* bit for bit, all outputs */
	double max_abs_error; /* of an element */
	double max_rel_error; /* of an output: |a - b| / |b|, in the norm of
				 all its elements */
	const char *worst;    /* the first output that is not equal */
} comparison;

/* Compares the outputs of a plan with those of one worker.  Where no sum or
 * product of floats was divided among workers they have to be the same, bit
 * for bit; else the relative error of each is at most 1e-4 in f32, 1e-9 in
 * f64, 1e-2 in f16, 1e-1 in bf16; where the mantissa has three bits 0.5, with
 * less 1. */
comparison verify_outputs(const plan *p, const array *got, const array *want);

#endif
