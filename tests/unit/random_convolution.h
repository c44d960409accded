/* Random kernels that are convolutions, or gradients of convolutions. */
#ifndef TDL_TESTS_UNIT_RANDOM_CONVOLUTION_H
#define TDL_TESTS_UNIT_RANDOM_CONVOLUTION_H

#include "kernel/convolution.h"
#include "tests/unit/kernels.h"

typedef struct convolution_recipe {
	dtype type;
	int most;   /* filters, and channels, of a group */
	int groups; /* at most */
} convolution_recipe;

/* Of one or two spatial dimensions, of some kind; finished. */
kernel *random_convolution(arena *a, rng *r, const convolution_recipe *how);

#endif
