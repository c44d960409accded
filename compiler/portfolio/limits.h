/* The number of devices that a limit of memory requires. */
#ifndef TDL_COMPILER_PORTFOLIO_LIMITS_H
#define TDL_COMPILER_PORTFOLIO_LIMITS_H

#include "compiler/portfolio/request.h"

/* A number of devices above how->k on which how->algorithm finds a plan within
 * how->memory; 0 if none was found.  Tries some numbers below 2 k, then 2 k, 4
 * k, 8 k and so on up to 1024, and returns the least that works. */
int plan_enough_devices(const plan_request *how);

#endif
