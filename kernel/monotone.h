/* Partial values that a kernel hands on, derived from its body.
 *
 * An input is partial where workers hold parts x_p of it, all of its shape,
 * that a reducer has yet to combine.  It passes a kernel where the results
 * computed from the parts combine to that of the whole, so that combining can
 * wait:
 *
 *	kernel(r over p of x_p) = s over p of kernel(x_p)
 *
 * Sum passes what is linear; Max and Min, of truth values Or and And, pass
 * what is monotone, where one that falls turns one into the other.  Rounding
 * apart, this holds for values that are neither infinite nor NaN. */
#ifndef TDL_KERNEL_MONOTONE_H
#define TDL_KERNEL_MONOTONE_H

#include "kernel/kernel.h"

/* Whether reducer `to' combines the results if the inputs, a bit each, are all
 * partial by reducer `by', and the others are not partial. */
bool kernel_passes_partial(const kernel *k, uint32_t inputs, reducer by,
			   reducer to);

/* A reducer that does for an input that is partial by r, the first of them;
 * RED_NONE where the input has to be combined before. */
reducer kernel_commutes_with(const kernel *k, int input, reducer r);

/* The same of inputs, a bit each, that are all partial by r along the same
 * groups of workers: they pass jointly, as both terms of a sum do. */
reducer kernel_passes(const kernel *k, uint32_t inputs, reducer r);

/* All of them, small sets of inputs first: of up to six inputs all sets, of
 * more the sets of one, of two, and of all.  Writes at most MAX_PASSINGS of
 * them to `to' and returns their number.  The same for equal kernels. */
int kernel_passings(const kernel *k, kpassing *to);

#endif
