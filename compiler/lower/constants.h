/* Where a plan finds its constants. */
#ifndef TDL_COMPILER_LOWER_CONSTANTS_H
#define TDL_COMPILER_LOWER_CONSTANTS_H

#include "compiler/graph/graph.h"
#include "plan/plan.h"

/* Fills in p->tensors[].constant from g: a file by reference, with its
 * checksum if asked for, what is in memory as it is, or as one element where
 * all are equal, what is random by its law.  False when errors were added. */
bool lower_constants(const graph *g, plan *p, bool checksums, diag_sink *s);

#endif
