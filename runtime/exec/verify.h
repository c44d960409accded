/* Comparison of a run with that of one worker: tolerances, and errors. */
#ifndef TDL_RUNTIME_EXEC_VERIFY_H
#define TDL_RUNTIME_EXEC_VERIFY_H

#include "plan/pipeline.h"
#include "runtime/exec/npz.h"

/* The distance of a tensor from another: the norm of the difference by the norm
 * of the other; and of the element that is the furthest, the difference by the
 * element or, if that is greater, by the root mean square of all. */
typedef struct error_of {
	double norm, element;
} error_of;

typedef enum verify_rule {
	VERIFY_EXACT,	 /* the same, bit for bit */
	VERIFY_BY_TYPE,	 /* up to rounding in the type, of its size, .. */
	VERIFY_BY_CHANGE, /* .. of the size of its change since the start */
} verify_rule;

typedef struct comparison {
	bool equal; /* within the tolerance */
	bool exact; /* bit for bit, all of them */
	double max_abs_error; /* of an element */
	double max_rel_error; /* of a tensor, in the norm */
	int64_t doubtful; /* elements that rounding alone decides, .. */
	int64_t nelem;	  /* .. of so many */
	/* The tensor whose error is the largest part of its tolerance, and that
	 * part; NULL if all are the same. */
	const char *worst;
	dtype type;
	verify_rule rule;
	error_of error, allowed;
	double part; /* the greater quotient of the two */
} comparison;

/* A tensor's room for rounding. */
typedef struct sway {
	/* Where an element lies, least and most, in runs of one worker that
	 * round otherwise; by element.  `least` is NULL where there was
	 * none. */
	double *least, *most;
	/* The most, of these runs, of the sum of the squared differences of
	 * elements that fell to the next number. */
	double flips;
	/* Of a state: what it was before so many steps; else NULL. */
	const array *start;
	int64_t steps;
} sway;

/* Marks the nodes of a plan whose results may have other last bits than one
 * worker's: a sum or product of floats is divided among workers, or over
 * `turns', of which that worker has one, or a `library' adds it up, whose order
 * may depend on the shape.  By node, in a. */
bool *verify_divided(arena *a, const plan *p, bool library, bool turns);

/* The same of all stages, by node of the whole. */
bool *verify_divided_in_stages(arena *a, const plan_pipeline *p,
			       const pipeline_whole *w, bool library,
			       bool turns);

/* Compares tensors of a plan, outputs and states after some steps, with those
 * of one worker.  What no node that is marked leads to has to be the same, bit
 * for bit; else the error of each, in the norm, is at most
 * 5e-5 in f32, 1e-11 in f64, 5e-3 in f16, 5e-2 in bf16; where the mantissa has
 * three bits 0.5, with less 1; and that of an element 4 times as much, so that
 * a few wrong ones do not vanish among many.
 *
 * For a state with a `start' the error is that of its change, w - start: a
 * step of 1e-6 of a weight says nothing where it is held against the weight.
 * The change is known as exactly as the state has room for: two numbers that
 * are d apart before they are rounded are the same afterwards or, with a
 * probability of d by the distance of two neighbours, one such distance u
 * apart.  So an element may be off by u more for each step, and the sum of the
 * squares of all may be larger by twice the sum of d u that its error allows,
 * by four times what runs that round otherwise show (sway.flips), and by that
 * of four elements.
 *
 * Some elements depend on rounding alone: a gradient that is 0 but for the last
 * bits, and all that an optimizer which scales gradients, or takes their signs,
 * makes of it.  Where `sway` is given, by tensor, an element for which it is
 * wider than the error that its type allows is in doubt: it may lie anywhere in
 * that range, and beyond it by as much as that is wide; then it counts for no
 * error but for the greatest.  Where more than half of a tensor's elements are,
 * they say together what a few runs do not of each: one may lie further away by
 * the root mean square of the widths of all ranges, or by three times its own
 * if that is less.  All others are held against the rule above. */
comparison verify_tensors(const plan *p, const bool *divided, int n,
			  const int *tensors, const array *got,
			  const array *want, const sway *sways);

/* Notes in sways, by tensor, where the elements lie: those that one worker got,
 * and those that it got after verify_move(); and how many fell to the next
 * number, if that counts.  New values are in a. */
void verify_sway(arena *a, int n, const array *moved, const array *want,
		 sway *sways, bool flips);

/* Marks the nodes that are marked, and those that compute what such a sum adds
 * up: of terms that cancel, the sum is of the size of their last bits, and no
 * change of its own last bits shows that.  By node, in a. */
bool *verify_rounded(arena *a, const plan *p, const bool *divided);

/* The same as verify_tensors() for the outputs of a run, of the plan p without
 * stages, whose states, if any, were new, without a library. */
comparison verify_outputs(const plan *p, const array *got, const array *want);

/* The number of elements that are NaN. */
int64_t verify_nans(const array *x);

/* The relative change of a number in the last bit of the coarsest type, of 16
 * bits and more, that a plan computes in between sums in another order and its
 * outputs and states. */
double verify_noise(const plan *p, const bool *divided);

/* Changes numbers of 16 bits and more in their last bits, up or down by the
 * seed, and by as much as noise: a computation in bf16 ignores the last bit of
 * an f32. */
void verify_move(const array *x, double noise, uint64_t seed);

#endif
