/* A lower bound of all plans by classes of symmetric cuts, for problems with
 * too many cuts to enumerate.  Used by joint_search.c; symmetry_bound.c has the
 * argument. */
#ifndef TDL_COMPILER_PLANNERS_SYMMETRY_BOUND_H
#define TDL_COMPILER_PLANNERS_SYMMETRY_BOUND_H

#include "compiler/planners/planner.h"

/* A lower bound of the cost of all plans over the axes of the mesh that the
 * rules allow; -1 if there are too many classes as well.  `top' is the cost of
 * a known plan.  The rules must treat axes of one size alike: choices allowed
 * on some axes are allowed in any order. */
int64_t symmetry_bound(const search *s, const rules *all, int64_t top);

#endif
