/* The number of devices that a limit of memory requires. */
#ifndef TDL_COMPILER_PORTFOLIO_LIMITS_H
#define TDL_COMPILER_PORTFOLIO_LIMITS_H

#include "compiler/portfolio/request.h"

/* A number of devices above how->k on which how->algorithm finds a plan within
 * how->memory; 0 if none was found.  Some numbers below 2 k are tried, then
 * 2 k, 4 k, 8 k and so on up to 1024; the result is the least of these. */
int plan_enough_devices(const plan_request *how);

#endif
