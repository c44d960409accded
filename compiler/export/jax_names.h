/* Unique names in Python for the things of a module, similar to their names in
 * the plan. */
#ifndef TDL_COMPILER_EXPORT_JAX_NAMES_H
#define TDL_COMPILER_EXPORT_JAX_NAMES_H

#include "base/intern.h"

/* The names in use: Python's keywords, and all that the files of jax/
 * define. */
strmap *jax_names(arena *a);

/* A new name like this one; it is added to `taken'. */
const char *jax_name(arena *a, strmap *taken, const char *name);

/* A text as a Python string; the part of a text that is allowed in a
 * comment. */
const char *jax_string(arena *a, const char *s);
const char *jax_comment(arena *a, const char *s);

/* The files of jax/: for all modules; for those of one mesh; for stages. */
typedef enum jax_prelude_part {
	JAX_PRELUDE,
	JAX_MESH,
	JAX_STAGES
} jax_prelude_part;

const char *jax_prelude(jax_prelude_part part);

#endif
