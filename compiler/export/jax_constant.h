/* The initial elements of tensors, in Python. */
#ifndef TDL_COMPILER_EXPORT_JAX_CONSTANT_H
#define TDL_COMPILER_EXPORT_JAX_CONSTANT_H

#include "plan/plan.h"

/* An expression that makes a tensor's elements, as an array of NumPy.  Paths of
 * files are relative to the module's folder. */
const char *jax_constant(arena *a, const plan_tensor *t, const char *folder);

/* "(4, 32), jnp.float32" */
const char *jax_shape_and_type(arena *a, const plan_tensor *t);

#endif
