/* Partial values that pass through a kernel, derived from its body.
 *
 * An input is partial if workers hold parts x_p of it, each of its full shape,
 * that a reducer r has yet to combine.  It passes a kernel if combining the
 * results for the parts gives the result for the whole, so that combining can
 * wait:
 *
 *	kernel(r over p of x_p) = s over p of kernel(x_p)
 *
 * Linear kernels pass Sum.  Monotone ones pass Max and Min (for truth values Or
 * and And); a decreasing kernel turns one into the other.  Apart from rounding,
 * this holds for values that are neither infinite nor NaN. */
#ifndef TDL_KERNEL_MONOTONE_H
#define TDL_KERNEL_MONOTONE_H

#include "kernel/kernel.h"

/* Whether reducer `to' combines the results if exactly the given inputs (a bit
 * each) are partial by reducer `by'. */
bool kernel_passes_partial(const kernel *k, uint32_t inputs, reducer by,
			   reducer to);

/* The first reducer that combines the results if the input is partial by r;
 * RED_NONE if the input has to be combined first. */
reducer kernel_commutes_with(const kernel *k, int input, reducer r);

/* The same for inputs (a bit each) that are all partial by r over the same
 * groups of workers: they pass jointly, as both terms of a sum do. */
reducer kernel_passes(const kernel *k, uint32_t inputs, reducer r);

/* Finds all passings, small sets of inputs first: all sets of up to six inputs;
 * of more inputs the sets of one, of two, and of all.  Writes at most
 * MAX_PASSINGS to `to' and returns their number.  Equal kernels give equal
 * passings. */
int kernel_passings(const kernel *k, kpassing *to);

#endif
