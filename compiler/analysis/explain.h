/* The regions that each part of a kernel reads and computes when one variable
 * is divided among k workers, and the bytes that this moves.  Used by tdlc
 * explain. */
#ifndef TDL_COMPILER_ANALYSIS_EXPLAIN_H
#define TDL_COMPILER_ANALYSIS_EXPLAIN_H

#include "kernel/region.h"

typedef struct explain_part {
	box *inputs; /* by input of the kernel */
	box output;
} explain_part;

typedef struct explain_strategy {
	int var;
	reducer reducer; /* the reducer for the parts' results; or RED_NONE */
	/* For each input, the bytes that the parts need and do not hold, the
	 * least over the cuts of the stored input; plus k-1 times each partial
	 * result. */
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
