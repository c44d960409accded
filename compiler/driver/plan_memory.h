/* A plan's need of device memory, and its limit. */
#ifndef TDL_COMPILER_DRIVER_PLAN_MEMORY_H
#define TDL_COMPILER_DRIVER_PLAN_MEMORY_H

#include "compiler/driver/driver.h"
#include "plan/plan.h"

/* The option; *size is its argument, or NULL. */
#define PLAN_OPTION_MEMORY(size)                                             \
	{ CLI_TEXT, 0, "memory", "SIZE",                                     \
	  "let no device need more than SIZE bytes (2G, 80GB); fetched "     \
	  "tensors are kept for later uses as long as they fit", (size) }

/* Whether a plan needs at most `limit` bytes, 0 for any number; if not, a
 * message is printed with the excess, and the buffers that cause it. */
bool plan_fits(driver *d, const plan *p, int64_t limit);

#endif
