/* The output of `tdlc plan': a result, as JSON and as text. */
#ifndef TDL_COMPILER_DRIVER_PLAN_PRINT_H
#define TDL_COMPILER_DRIVER_PLAN_PRINT_H

#include "base/json.h"
#include "compiler/portfolio/request.h"

/* The object of cli.md, `tdlc plan --json`. */
json_t *plan_report_json(const plan_result *r);

/* The same in a few lines, for people, on standard output. */
void plan_report_text(arena *a, const plan_result *r);

/* "102 MB" */
const char *plan_bytes_text(arena *a, int64_t n);

#endif
