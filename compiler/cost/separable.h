/* The costs of pair_costs.h in closed form, without enumerating groups, for
 * regions whose dimensions are independent of each other. */
#ifndef TDL_COMPILER_COST_SEPARABLE_H
#define TDL_COMPILER_COST_SEPARABLE_H

#include "compiler/cost/pair_costs.h"

/* Fills table, [vars->n][dims->n], with elements (not bytes) over all groups
 * of m, whose last axis is to be decided.  Returns false, with nothing done,
 * where the regions are not products of intervals that depend on one dimension
 * each; the groups have to be enumerated then. */
bool separable_table(const mesh *m, const pair *p, int64_t *table);

#endif
