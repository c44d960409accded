/* What no plan is less than, where all ways to cut are too many to look at. */
#ifndef TDL_COMPILER_SEARCH_CLASSES_H
#define TDL_COMPILER_SEARCH_CLASSES_H

#include "compiler/search/planner.h"

/* A bound of all plans over the axes of the mesh that the rules allow, of which
 * `top` is what one costs; -1 where classes are too many, too.  The rules must
 * not tell axes of one size from each other: what they allow on some axes they
 * allow in any order. */
int64_t classes_bound(const search *s, const rules *all, int64_t top);

#endif
