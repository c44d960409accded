/* `tdlc show' of a plan. */
#ifndef TDL_COMPILER_DRIVER_SHOW_PLAN_H
#define TDL_COMPILER_DRIVER_SHOW_PLAN_H

#include "compiler/driver/driver.h"
#include "plan/plan.h"

/* Whether a file begins as a plan does, with a brace; ONNX and TDL do not. */
bool show_is_plan(const char *path);

/* Prints a plan's tensors, operators and transfers, equal ones of repeated
 * blocks in one row; or all of them as JSON, or as a drawing.  The time is
 * predicted for the machine, NULL for the default.  Adds diagnostics. */
cli_status show_plan(driver *d, const char *path, const char *machine,
		     bool json, bool dot);

/* The drawing: show_plan_dot.c. */
void show_plan_dot(arena *a, const plan *p);

#endif
