/* Plans of least time with prices for memory. */
#ifndef TDL_COMPILER_PORTFOLIO_PRICE_SWEEP_H
#define TDL_COMPILER_PORTFOLIO_PRICE_SWEEP_H

#include "compiler/portfolio/candidates.h"

/* Plans by an algorithm that is search_is_priced(): for no price, for more and
 * more, and between those whose plans differ most in memory.  Adds them to
 * *all.  They do not depend on how->memory.  False when errors were added. */
bool plan_sweep(const plan_request *how, const char *algorithm,
		plan_candidates *all);

#endif
