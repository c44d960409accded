/* The two reads whose product a convolution sums, and their indices.  Private
 * to kernel/conv*.c. */
#ifndef TDL_KERNEL_CONV_READ_H
#define TDL_KERNEL_CONV_READ_H

#include "kernel/kernel.h"

/* An index: floor((c + sum of coef[v] * variable v) / divisor), plus, where
 * over_by is not 0, over_coef * floor(variable over / over_by); or, where
 * modulus is not 0, the remainder of a variable. */
typedef struct conv_place {
	int64_t c, coef[MAX_NVARS], divisor;
	int over;
	int64_t over_coef, over_by, modulus;
	const kexpr *of; /* the expression that is divided */
	uint32_t vars;
} conv_place;

/* One factor of the product: a read that gives 0 outside of its input. */
typedef struct conv_reading {
	const kexpr *read;
	conv_place at[MAX_NDIM];
	int nwindows; /* dimensions whose index is not just a variable */
} conv_reading;

/* Recognizes a factor; false if e is no such read. */
bool conv_read_of(const kexpr *e, conv_reading *r);

/* The variable that the index consists of, -1 if there is more to it; the index
 * that consists of variable v. */
int conv_read_var(const conv_place *p);
conv_place conv_read_place(int v);

#endif
