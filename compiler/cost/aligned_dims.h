/* Alignment of a kernel's variables with the dimensions of its inputs: variable
 * v carries dimension d when dividing v divides the input along d, too.  Used
 * by planners that follow a cut through the graph. */
#ifndef TDL_COMPILER_COST_ALIGNED_DIMS_H
#define TDL_COMPILER_COST_ALIGNED_DIMS_H

#include "kernel/region.h"

/* Whether dividing variable v into n parts makes each part read, of dimension
 * d of an input, nothing but its own of n parts.  Tried on the parts at both
 * ends and in the middle. */
bool var_follows_dim(const kernel *k, int v, int input, int d, int64_t n);

/* The dimension of an input that v carries, of those that can have n parts; the
 * first, CUT_NONE if it carries none. */
int aligned_dim(const kernel *k, int v, int input, int64_t n);

/* Whether each of n parts of variable v reads the same of an input as the
 * undivided kernel. */
bool var_reads_all(const kernel *k, int v, int input, int64_t n);

#endif
