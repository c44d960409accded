/* The output of `tdlc plan --frontier'. */
#ifndef TDL_COMPILER_DRIVER_PLAN_FRONTIER_H
#define TDL_COMPILER_DRIVER_PLAN_FRONTIER_H

#include "compiler/driver/driver.h"
#include "compiler/portfolio/request.h"

/* Searches for the frontier of time and memory within the limit, and prints it
 * as a table or as JSON; if it is empty, the message of plan_fits(). */
cli_status plan_print_frontier(driver *d, const plan_request *how, bool json);

#endif
