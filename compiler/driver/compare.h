/* The common body of `tdlc compare' and `tdlc score'. */
#ifndef TDL_COMPILER_DRIVER_COMPARE_H
#define TDL_COMPILER_DRIVER_COMPARE_H

#include "compiler/driver/driver.h"
#include "libtdl/plan_input.h"

/* Either command.  score: a plan out of pins comes first. */
cli_status compare_planners(driver *d, int argc, char **argv, bool score);

#endif
