/* A plan's need of device memory beyond a limit, in words. */
#ifndef TDL_COMPILER_DRIVER_PLAN_MEMORY_H
#define TDL_COMPILER_DRIVER_PLAN_MEMORY_H

#include "compiler/driver/driver.h"
#include "compiler/portfolio/request.h"

/* Whether a plan needs at most how->memory bytes, 0 for any number; if not,
 * prints its excess, the buffers that cause it, and what would be enough. */
bool plan_fits(driver *d, const plan_request *how, const plan *p);

#endif
