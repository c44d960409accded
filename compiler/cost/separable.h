/* The costs of pair_costs.h without enumerating groups, for layouts that are
 * products of intervals (layout/product.h). */
#ifndef TDL_COMPILER_COST_SEPARABLE_H
#define TDL_COMPILER_COST_SEPARABLE_H

#include "compiler/cost/pair_costs.h"

/* Fills table, [vars->n][dims->n], with elements (not bytes) over all groups of
 * m, whose last axis is being decided.  Returns false if a layout is not such a
 * product; the caller then enumerates the groups. */
bool separable_table(const mesh *m, const pair *p, int64_t *table);

#endif
