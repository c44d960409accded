/* Sequence parallelism (Korthikanti et al., arXiv 2205.05198, section 4.2): the
 * operators between the chains are cut along the sequence. */
#ifndef TDL_COMPILER_PLANNERS_MEGATRON_SEQUENCE_H
#define TDL_COMPILER_PLANNERS_MEGATRON_SEQUENCE_H

#include "compiler/planners/megatron_chains.h"

/* Divides the operators between the chains; call it after the chains are found.
 * Returns their number. */
int megatron_divide_sequence(megatron *m);

#endif
