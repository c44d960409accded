/* The sources of a plan's constants: files, bytes in memory, distributions.  A
 * step of lower_plan(). */
#ifndef TDL_COMPILER_LOWER_CONSTANTS_H
#define TDL_COMPILER_LOWER_CONSTANTS_H

#include "compiler/graph/graph.h"
#include "plan/plan.h"

/* Fills in p->tensors[].constant, and p's folds, from g.  Files are referred
 * to, with checksums if asked for; bytes in memory are copied, or stored as one
 * element if all are equal; random values are given by their distribution.
 * Returns false after adding errors. */
bool lower_constants(arena *a, const graph *g, plan *p, bool checksums,
		     diag_sink *s);

/* The same for one tensor, without a checksum. */
void lower_set_constant(const constant *c, plan_tensor *t);

/* Adds the folds that p's tensors need, and the tensors that only folds use
 * (folds.c). */
void lower_folds(arena *a, const graph *g, plan *p);

/* Computes the checksums of a plan's weights from their files.  Returns false
 * after adding errors, also if the plan itself has too many. */
bool lower_checksums(plan *p, diag_sink *s);

#endif
