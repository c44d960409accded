/* Facts that follow from the form of a kernel's body: in which reads it is
 * linear, and the derived variables that this allows. */
#ifndef TDL_KERNEL_LINEARITY_H
#define TDL_KERNEL_LINEARITY_H

#include "kernel/kernel.h"

/* Whether the body, without the reducer, is a sum of terms each of which has
 * exactly one read of the given inputs (a bit each) as a factor.  It is then
 * additive in these inputs together, and 0 where all of them are 0. */
bool kernel_body_linear(const kernel *k, uint32_t inputs);

/* Adds a derived variable (see kderived), called "INPUT.DIM", for each
 * dimension of an input that is read at a data-dependent index, if the body is
 * linear in those reads, a read outside of the input gives 0, and the body is
 * reduced by Sum or not at all.  Call it before kernel_finish(). */
void kernel_derive(arena *a, kernel *k);

#endif
