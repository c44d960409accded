/* Plans of least time, with prices for memory. */
#ifndef TDL_COMPILER_PORTFOLIO_PRICE_SWEEP_H
#define TDL_COMPILER_PORTFOLIO_PRICE_SWEEP_H

#include "compiler/portfolio/candidates.h"

/* Plans with an algorithm that is search_is_priced(): without a price, with
 * higher and higher prices, and with prices between those whose plans differ
 * most in memory.  Adds the plans to *all; they do not depend on how->memory.
 * Returns false after adding errors. */
bool plan_sweep(const plan_request *how, const char *algorithm,
		plan_candidates *all);

#endif
