/* What each part of a kernel reads and computes when one variable is divided
 * among k workers, and the bytes that this moves. */
#ifndef TDL_COMPILER_ANALYSIS_EXPLAIN_H
#define TDL_COMPILER_ANALYSIS_EXPLAIN_H

#include "plan/region.h"

typedef struct explain_part {
	box *inputs; /* by input of the kernel */
	box output;
} explain_part;

typedef struct explain_strategy {
	int var;
	reducer reducer; /* that combines the parts' results; or RED_NONE */
	/* Over the inputs, the least over a stored input's cuts of what the
	 * parts need and do not hold; and k-1 times each partial result. */
	int64_t bytes;
	explain_part *parts; /* k of them */
} explain_strategy;

typedef struct explanation {
	int k, n;
	explain_strategy *strategies;
	const char **why_not; /* by variable; NULL for one that is divided */
} explanation;

/* element_bytes: the size of an element of input i, of the result for i ==
 * k->ninputs. */
explanation explain_kernel(arena *a, const kernel *k, int nparts,
			   const int64_t *element_bytes);

#endif
