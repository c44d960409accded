/* From a graph to a plan and what there is to say of it: what tdlc plan does,
 * and tdlc compare with every planner. */
#ifndef TDL_COMPILER_DRIVER_PLAN_MAKE_H
#define TDL_COMPILER_DRIVER_PLAN_MAKE_H

#include "compiler/driver/driver.h"
#include "compiler/driver/plan_print.h"
#include "compiler/lower/lower.h"

/* Whether what k devices move can be counted; if not, with an error. */
bool plan_is_countable(driver *d, const graph *g, int64_t k);

/* Whether there is such a planner; if not, with a usage error printed. */
bool plan_is_algorithm(driver *d, const char *name);

/* The planners' names, as the help lists them: "tofu (default), joint, ..". */
const char *plan_algorithms(arena *a);

/* Plans g for k devices by an algorithm that there is, and lowers it.  *r is
 * filled in; where the search has an error it has no plan, only `search`.
 * False when errors were added. */
bool plan_make(driver *d, const graph *g, int k, const char *algorithm,
	       const lower_options *lower, plan_report *r);

#endif
