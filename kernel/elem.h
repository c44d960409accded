/* The bits of floats.  Private to kernel/; elements of any type are in
 * kernel/eval.h. */
#ifndef TDL_KERNEL_ELEM_H
#define TDL_KERNEL_ELEM_H

#include <stdint.h>

#include "base/dtype.h"

/* The bits of v as a float of type t, rounded to nearest even (f8e8m0: ties go
 * to the greater).  A number out of range becomes infinite; NaN if t has no
 * infinity; and the greatest number with v's sign if t has no NaN either.
 * Without NaN in t, NaN becomes 0.  For f8e8m0, 0 is out of range. */
uint64_t elem_encode(dtype t, double v);
double elem_decode(dtype t, uint64_t bits);

/* The bits of element i, an unsigned number. */
uint64_t elem_get_bits(dtype t, const void *p, int64_t i);
void elem_set_bits(dtype t, void *p, int64_t i, uint64_t bits);

#endif
