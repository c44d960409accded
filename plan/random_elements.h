/* The elements of random constants. */
#ifndef TDL_PLAN_RANDOM_ELEMENTS_H
#define TDL_PLAN_RANDOM_ELEMENTS_H

#include "plan/plan.h"

/* Elements first .. first + n of a RANDOM constant of a float type, densely:
 * uniform element i from word i of its key's stream; normally distributed ones
 * from words 2i and 2i + 1 (Box and Muller, Annals of Mathematical Statistics
 * 29, 1958). */
void random_elements(const plan_constant *c, dtype type, int64_t first,
		     int64_t n, void *to);

#endif
