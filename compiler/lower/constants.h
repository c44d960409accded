/* The sources of a plan's constants: files, bytes in memory, distributions.  A
 * step of lower_plan(). */
#ifndef TDL_COMPILER_LOWER_CONSTANTS_H
#define TDL_COMPILER_LOWER_CONSTANTS_H

#include "compiler/graph/graph.h"
#include "plan/plan.h"

/* Fills in p->tensors[].constant, and p's folds, from g: a file is referred to,
 * with its checksum if asked for; bytes in memory are copied, or stored as one
 * element if all are equal; random values are given by their distribution.
 * False when errors were added. */
bool lower_constants(arena *a, const graph *g, plan *p, bool checksums,
		     diag_sink *s);

/* The same of one tensor, without a checksum. */
void lower_set_constant(const constant *c, plan_tensor *t);

/* Adds the folds that p's tensors take, and the tensors that only folds use:
 * folds.c. */
void lower_folds(arena *a, const graph *g, plan *p);

/* Reads the files of a plan's weights for their checksums.  False with errors
 * added, also where the plan itself has too many. */
bool lower_checksums(plan *p, diag_sink *s);

#endif
