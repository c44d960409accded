/* A plan as a Python module that runs the model with JAX.  It has a function
 * for each kernel, calls them in the order of the program, and has the plan's
 * layouts as constraints on each tensor.  For several stages the calls are in
 * functions for the parts of each, which the module runs by the schedule
 * (docs/export.md). */
#ifndef TDL_COMPILER_EXPORT_JAX_MODULE_H
#define TDL_COMPILER_EXPORT_JAX_MODULE_H

#include "plan/pipeline.h"

/* The text of the module to be written to `folder', from which paths of weights
 * are relative; in a.  NULL after adding errors: turns of several sizes, an
 * element type that JAX does not have. */
char *jax_module(arena *a, const plan_pipeline *p, const char *folder,
		 diag_sink *s);

#endif
