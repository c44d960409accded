/* Partition strategies of a kernel, and facts that follow from its body.
 *
 * A strategy divides one iteration variable (Tofu, section 4.2).  If it is an
 * output variable, each worker computes a block of the result.  If it is a
 * reduction variable, or a derived one (an embedding's vocabulary), each worker
 * computes a partial result, and the reducer combines them. */
#ifndef TDL_COMPILER_ANALYSIS_STRATEGY_H
#define TDL_COMPILER_ANALYSIS_STRATEGY_H

#include "kernel/region.h"

/* Whether variable v of k may be divided.  If not, *why (unless NULL) receives
 * the reason, a clause to follow "cannot be split: ". */
bool strategy_offered(const kernel *k, int v, const char **why);

/* The reducer that combines partial results if variable v is divided; RED_NONE
 * for an output variable. */
reducer strategy_reducer(const kernel *k, int v);

typedef struct kernel_facts {
	bool elementwise;    /* every read is the identity on the result's
				index, or of a tensor broadcast into it */
	uint32_t linear;     /* bit i: the body is linear in input i */
	int64_t flops;	     /* of the whole kernel; -1 if they do not fit */
} kernel_facts;

kernel_facts kernel_facts_of(const kernel *k);

#endif
