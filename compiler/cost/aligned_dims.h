/* Alignment of a kernel's variables with the dimensions of its inputs: variable
 * v carries dimension d if dividing v divides the input along d as well.  Used
 * by planners that follow a cut through the graph. */
#ifndef TDL_COMPILER_COST_ALIGNED_DIMS_H
#define TDL_COMPILER_COST_ALIGNED_DIMS_H

#include "kernel/region.h"

/* Whether, if variable v is divided into n parts, each part reads only the same
 * of n parts of dimension d of an input.  Tries the parts at both ends and in
 * the middle. */
bool var_follows_dim(const kernel *k, int v, int input, int d, int64_t n);

/* The first dimension of an input, among those that can have n parts, that v
 * carries; CUT_NONE if there is none. */
int aligned_dim(const kernel *k, int v, int input, int64_t n);

/* Whether each of n parts of variable v reads as much of an input as the
 * undivided kernel. */
bool var_reads_all(const kernel *k, int v, int input, int64_t n);

#endif
