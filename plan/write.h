/* Writing the plan file, docs/plan-format.md: what plan/write.c shares with its
 * half for kernels.  Inside plan/ only. */
#ifndef TDL_PLAN_WRITE_H
#define TDL_PLAN_WRITE_H

#include <jansson.h>

#include "plan/plan.h"

json_t *json_of_kernel(const plan_kernel *k);

/* A JSON string of any bytes: what is not UTF-8 becomes '?'. */
json_t *json_of_text(const char *text);

#endif
