/* The output of `tdlc plan': a result as text. */
#ifndef TDL_COMPILER_DRIVER_PLAN_PRINT_H
#define TDL_COMPILER_DRIVER_PLAN_PRINT_H

#include "libtdl/plan_report.h"

/* A plan that was found in a few lines, for people, on standard output. */
void plan_report_text(arena *a, const plan_result *r);

#endif
