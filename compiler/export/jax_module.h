/* A plan as a module of Python that runs the model with JAX: a function for
 * each kernel, their calls in the order of the program, and the plan's layouts
 * as constraints on each tensor; of several stages the calls are functions for
 * the parts of each, which the module runs by the schedule (docs/export.md). */
#ifndef TDL_COMPILER_EXPORT_JAX_MODULE_H
#define TDL_COMPILER_EXPORT_JAX_MODULE_H

#include "plan/pipeline.h"

/* The text of the module that goes to a folder, from which files with weights
 * are named.  NULL if errors were added: turns of several sizes, an element
 * type that JAX has not. */
char *jax_module(arena *a, const plan_pipeline *p, const char *folder,
		 diag_sink *s);

#endif
