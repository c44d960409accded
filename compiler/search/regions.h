/* Improving an assignment, a part of the variables at a time. */
#ifndef TDL_COMPILER_SEARCH_REGIONS_H
#define TDL_COMPILER_SEARCH_REGIONS_H

#include "compiler/search/solve.h"

/* Goes through regions, some variables that are near each other each, and makes
 * value[] the best of all that differ from it in a region only, until no region
 * has a better one, or until the time of CLOCK_MONOTONIC in seconds; 0 is no
 * limit.  The numbers of variables follow the flow of data.  Returns what
 * value[] then costs. */
int64_t regions_improve(const problem *p, int *value, double deadline);

#endif
