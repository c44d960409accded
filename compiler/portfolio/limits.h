/* Limits of memory that suffice for a plan. */
#ifndef TDL_COMPILER_PORTFOLIO_LIMITS_H
#define TDL_COMPILER_PORTFOLIO_LIMITS_H

#include "compiler/portfolio/request.h"

/* A number of devices above how->k on which a plan by how->algorithm keeps to
 * how->memory, the least of those that are tried: up to twice as many, then
 * those that double.  0 if there is none. */
int plan_enough_devices(const plan_request *how);

#endif
