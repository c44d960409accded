/* Sequence parallelism (Korthikanti et al., arXiv 2205.05198, section 4.2):
 * what is between the chains is cut along the sequence. */
#ifndef TDL_COMPILER_PLANNERS_MEGATRON_SEQUENCE_H
#define TDL_COMPILER_PLANNERS_MEGATRON_SEQUENCE_H

#include "compiler/planners/megatron_chains.h"

/* Divides the operators between the chains, after them.  Returns how many. */
int megatron_divide_sequence(megatron *m);

#endif
