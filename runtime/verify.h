/* Comparing a run with that of one worker. */
#ifndef TDL_RUNTIME_VERIFY_H
#define TDL_RUNTIME_VERIFY_H

#include "plan/plan.h"
#include "runtime/npz.h"

typedef struct comparison {
	bool equal; /* as much as it has to be */
	bool exact; /* bit for bit, all of them */
	double max_abs_error; /* of an element */
	double max_rel_error; /* of a tensor: |a - b| / |b|, in the norm of
				 all its elements */
	const char *worst;    /* the first tensor that is not equal */
} comparison;

/* Compares tensors of a plan, outputs and states after some steps, with those
 * of one worker.  Where no sum or product of floats was divided among workers
 * they have to be the same, bit for bit; else the relative error of each is at
 * most 1e-4 in f32, 1e-9 in f64, 1e-2 in f16, 1e-1 in bf16; where the mantissa
 * has three bits 0.5, with less 1.
 *
 * Some values hang on rounding alone: a gradient that is 0 but for the last
 * bits, and all that an optimizer which scales gradients makes of it.  Where
 * `moved` is given, what one worker got after verify_move(), a relative error
 * of 16 times that between `moved` and `want` is right, too. */
comparison verify_tensors(const plan *p, int n, const int *tensors,
			  const array *got, const array *want,
			  const array *moved);

/* The same for the outputs of a run whose states, if any, were new. */
comparison verify_outputs(const plan *p, const array *got, const array *want);

/* Changes numbers of 16 bits and more in their last bits, up or down. */
void verify_move(const array *x);

#endif
