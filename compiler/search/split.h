/* Dividing a problem in two: one variable has a certain value, or another. */
#ifndef TDL_COMPILER_SEARCH_SPLIT_H
#define TDL_COMPILER_SEARCH_SPLIT_H

#include <stdbool.h>

#include "compiler/search/problem.h"

typedef struct split {
	int var, value;
} split;

/* The variable for which a wrong value is worst, and its best value, as its own
 * costs and the least ones in its tables tell.  It has several values; there
 * is one that has. */
split split_choose(const problem *p);

/* p where the variable has the value, or where it has not; in a, tables that
 * do not change are shared. */
problem *split_with(arena *a, const problem *p, const split *s);
problem *split_without(arena *a, const problem *p, const split *s);

#endif
