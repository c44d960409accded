/* Plans of least time with prices for memory. */
#ifndef TDL_COMPILER_DRIVER_PLAN_SWEEP_H
#define TDL_COMPILER_DRIVER_PLAN_SWEEP_H

#include "compiler/driver/plan_make.h"

/* Plans by an algorithm that is search_is_priced(): for no price, and if that
 * passes how->memory, or `wide` is set, for more and more; then between those
 * of which one gives a plan within the limit and one does not.  Adds them to
 * *all.  False when errors were added. */
bool plan_sweep(driver *d, const graph *g, const plan_search *how,
		const char *algorithm, bool wide, plan_reports *all);

#endif
