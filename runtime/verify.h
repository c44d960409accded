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
 * of one worker.  Where no sum or product of floats was divided among workers,
 * nor added up by a `library`, which may do that otherwise for every shape,
 * they have to be the same, bit for bit; else the relative error of each is at
 * most 1e-4 in f32, 1e-9 in f64, 1e-2 in f16, 1e-1 in bf16; where the mantissa
 * has three bits 0.5, with less 1.
 *
 * Some values hang on rounding alone: a gradient that is 0 but for the last
 * bits, and all that an optimizer which scales gradients makes of it.  Where
 * `sway` is given, by tensor, a relative error of 16 times that is right, too.
 */
comparison verify_tensors(const plan *p, bool library, int n,
			  const int *tensors, const array *got,
			  const array *want, const double *sway);

/* Notes in sway, by tensor, by how much one worker's results at most differ,
 * relatively, from those that it got from numbers after verify_move(). */
void verify_sway(int n, const array *moved, const array *want, double *sway);

/* The same for the outputs of a run whose states, if any, were new, without a
 * library. */
comparison verify_outputs(const plan *p, const array *got, const array *want);

/* By how much, relatively, a number changes in the last bit of the coarsest of
 * the types, of 16 bits and more, that a plan computes in between what is added
 * up otherwise and its outputs and states. */
double verify_noise(const plan *p);

/* Changes numbers of 16 bits and more in their last bits, up or down as the
 * seed has it, and by as much as noise: what computes in bf16 does not see the
 * last bit of an f32. */
void verify_move(const array *x, double noise, uint64_t seed);

#endif
