/* The sources of a plan's constants: files, bytes in memory, distributions.  A
 * step of lower_plan(). */
#ifndef TDL_COMPILER_LOWER_CONSTANTS_H
#define TDL_COMPILER_LOWER_CONSTANTS_H

#include "compiler/graph/graph.h"
#include "plan/plan.h"

/* Fills in p->tensors[].constant from g: a file is referred to, with its
 * checksum if asked for; bytes in memory are copied, or stored as one element
 * if all are equal; random values are given by their distribution.  False when
 * errors were added. */
bool lower_constants(const graph *g, plan *p, bool checksums, diag_sink *s);

/* Reads the files of a plan's weights for their checksums.  False with errors
 * added, also where the plan itself has too many. */
bool lower_checksums(plan *p, diag_sink *s);

#endif
