/* Facts that follow from the form of a kernel's body: the reads in which it is
 * linear, and the derived variables that these allow. */
#ifndef TDL_KERNEL_LINEARITY_H
#define TDL_KERNEL_LINEARITY_H

#include "kernel/kernel.h"

/* Whether the body, without the reducer, is a sum of terms each of which has
 * exactly one read of the inputs, a bit each, as a factor, so that it is
 * additive in them together and 0 where all of them are. */
bool kernel_body_linear(const kernel *k, uint32_t inputs);

/* Adds a derived variable (see kderived) for each dimension of an input that is
 * read at a data-dependent index, where the body is linear in those reads, the
 * value of a read outside of the input is 0, and the body is reduced by Sum or
 * not at all.  It is called "INPUT.DIM".  Before kernel_finish(). */
void kernel_derive(arena *a, kernel *k);

#endif
