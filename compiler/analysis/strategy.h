/* Partition strategies of a kernel, and the facts that follow from its body.
 *
 * A strategy divides one iteration variable (Tofu, section 4.2): an output
 * variable, then each worker computes a block of the result; or a reduction
 * variable, or one that the analysis derived (an embedding's vocabulary),
 * then each worker computes a partial result, combined with the reducer. */
#ifndef TDL_COMPILER_ANALYSIS_STRATEGY_H
#define TDL_COMPILER_ANALYSIS_STRATEGY_H

#include "kernel/region.h"

/* Whether variable v of k may be divided at all; if not, *why (may be NULL) is
 * the reason, a clause that goes after "cannot be split: ". */
bool strategy_offered(const kernel *k, int v, const char **why);

/* The reducer that combines partial results when variable v is divided;
 * RED_NONE where v is an output variable. */
reducer strategy_reducer(const kernel *k, int v);

typedef struct kernel_facts {
	bool elementwise;    /* every read is the identity on the result's
				index, or of a tensor broadcast into it */
	uint32_t linear;     /* bit i: the body is linear in input i */
	int64_t flops;	     /* in all, -1 where it does not fit */
} kernel_facts;

kernel_facts kernel_facts_of(const kernel *k);

#endif
