/* The writer of the plan file (docs/plan-format.md), shared by plan/write.c and
 * write_kernel.c alone. */
#ifndef TDL_PLAN_WRITE_H
#define TDL_PLAN_WRITE_H

#include "base/json.h"
#include "plan/plan.h"

json_t *json_of_kernel(const plan_kernel *k);

#endif
