/* Compares a run with that of one worker: tolerances, and errors. */
#ifndef TDL_RUNTIME_EXEC_VERIFY_H
#define TDL_RUNTIME_EXEC_VERIFY_H

#include "plan/pipeline.h"
#include "runtime/exec/npz.h"

/* The distance of a tensor from a reference. norm: the norm of the difference
 * over the norm of the reference. element: the greatest difference of an
 * element over the element or, if that is greater, over the root mean square of
 * all elements. */
typedef struct error_of {
	double norm, element;
} error_of;

typedef enum verify_rule {
	VERIFY_EXACT,	 /* bit for bit */
	VERIFY_BY_TYPE,	 /* up to rounding in the type, relative to its size */
	VERIFY_BY_CHANGE, /* .. relative to its change since the start */
} verify_rule;

typedef struct comparison {
	bool equal; /* within the tolerance */
	bool exact; /* bit for bit, all tensors */
	double max_abs_error; /* of an element */
	double max_rel_error; /* of a tensor, in the norm */
	int64_t doubtful; /* elements decided by rounding alone, .. */
	int64_t nelem;	  /* .. out of this number */
	/* The tensor whose error is the largest fraction of its tolerance; NULL
	 * if all are equal. */
	const char *worst;
	dtype type;
	verify_rule rule;
	error_of error, allowed;
	double part; /* that fraction: the greater of the two */
} comparison;

/* The range that rounding alone explains for a tensor. */
typedef struct sway {
	/* By element, the least and greatest values in runs of one worker that
	 * round differently; `least' is NULL if there were none. */
	double *least, *most;
	/* The greatest, over these runs, sum of squared differences of elements
	 * that moved to the next number. */
	double flips;
	/* For a state: its value `steps' steps before; else NULL. */
	const array *start;
	int64_t steps;
} sway;

/* Marks the nodes of a plan whose results may differ in the last bits from one
 * worker's: a sum or product of floats is divided among workers, or over
 * `turns' where that worker has one turn, or added up by a `library', whose
 * order may depend on the shape.  By node, in a. */
bool *verify_divided(arena *a, const plan *p, bool library, bool turns);

/* The same for all stages, by node of the whole. */
bool *verify_divided_in_stages(arena *a, const plan_pipeline *p,
			       const pipeline_whole *w, bool library,
			       bool turns);

/* Compares tensors of a plan (outputs, and states after some steps) with those
 * of one worker.  A tensor to which no marked node leads must be equal bit for
 * bit.  Otherwise its error in the norm is at most 5e-5 in f32, 1e-11 in f64,
 * 5e-3 in f16, 5e-2 in bf16; with a mantissa of three bits 0.5, with less 1.
 * The error of an element is at most 4 times as much, so that a few wrong
 * elements do not vanish among many.
 *
 * For a state with a `start' the error is that of its change, w - start: a step
 * of 1e-6 would not show in a comparison of whole weights.  The change is known
 * only as precisely as the state can represent it.  Two numbers that are d
 * apart before rounding are equal afterwards or, with a probability of d over
 * the distance u of two neighbours, u apart.  So an element may be off by
 * another u per step, and the sum of the squares of all elements may be larger
 * by twice the sum of d u that its error allows, by four times what runs that
 * round differently show (sway.flips), and by that of four elements.
 *
 * Some elements depend on rounding alone: a gradient that is 0 except in the
 * last bits, and what an optimizer that scales gradients, or takes their signs,
 * makes of it.  If sways, by tensor, are given, an element whose range is wider
 * than the error allowed for its type is in doubt.  It may be anywhere in that
 * range, or outside of it by as much as the range is wide; it then counts only
 * towards the greatest error.  If more than half of a tensor's elements are in
 * doubt, together they show what a few runs do not show of each: one may be
 * further away by the root mean square of the widths of all ranges, or by three
 * times its own width if that is less.  All others follow the rule above. */
comparison verify_tensors(const plan *p, const bool *divided, int n,
			  const int *tensors, const array *got,
			  const array *want, const sway *sways);

/* Extends the ranges in sways, by tensor, by the elements that one worker got
 * and those that it got after verify_move(); with `flips' also the sums of
 * those that moved to the next number.  New values are in a. */
void verify_sway(arena *a, int n, const array *moved, const array *want,
		 sway *sways, bool flips);

/* Marks the marked nodes, and those that compute the terms of such a sum: if
 * terms cancel, the sum is of the size of their last bits, which a change of
 * the sum's own last bits does not show.  By node, in a. */
bool *verify_rounded(arena *a, const plan *p, const bool *divided);

/* verify_tensors() for the outputs of a run, without a library, of the plan p
 * without stages, whose states, if any, were new. */
comparison verify_outputs(const plan *p, const array *got, const array *want);

/* The number of elements that are NaN. */
int64_t verify_nans(const array *x);

/* The relative change of a number in the last bit of the coarsest type, of 16
 * bits or more, in which the plan computes between sums in another order and
 * its outputs and states. */
double verify_noise(const plan *p, const bool *divided);

/* Changes numbers of 16 bits and more in their last bits, up or down depending
 * on the seed, by at least noise: a computation in bf16 ignores the last bit of
 * an f32. */
void verify_move(const array *x, double noise, uint64_t seed);

#endif
