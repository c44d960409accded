/* The regions that each part of a kernel reads and computes if one variable is
 * divided among k workers, and the bytes that this moves.  Used by tdlc
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
	reducer reducer; /* combines the parts' results; or RED_NONE */
	/* The bytes that the strategy moves.  For each input: those that the
	 * parts read and do not hold, if it is stored cut along the dimension
	 * for which these are fewest.  For partial results: k - 1 times the
	 * bytes of one. */
	int64_t bytes;
	explain_part *parts; /* k of them */
} explain_strategy;

typedef struct explanation {
	int k, n; /* parts; strategies */
	explain_strategy *strategies;
	/* by variable: why it is not divided; NULL if it is */
	const char **why_not;
} explanation;

/* The strategies of a kernel for nparts parts, in a.  element_bytes[i] is the
 * size of an element of input i, and of the result for i == k->ninputs. */
explanation explain_kernel(arena *a, const kernel *k, int nparts,
			   const int64_t *element_bytes);

#endif
