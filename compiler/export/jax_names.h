/* Names in Python: one for each thing of a module, like that which it has in
 * the plan. */
#ifndef TDL_COMPILER_EXPORT_JAX_NAMES_H
#define TDL_COMPILER_EXPORT_JAX_NAMES_H

#include "base/intern.h"

/* Names that are taken: Python's words and all that the files of jax/
 * define. */
strmap *jax_names(arena *a);

/* A new name like this one, which is taken then. */
const char *jax_name(arena *a, strmap *taken, const char *name);

/* A text as a string of Python; what may stand in a comment. */
const char *jax_string(arena *a, const char *s);
const char *jax_comment(arena *a, const char *s);

/* The files of jax/: what all modules have; those of one mesh; of stages. */
typedef enum jax_prelude_part {
	JAX_PRELUDE,
	JAX_MESH,
	JAX_STAGES
} jax_prelude_part;

const char *jax_prelude(jax_prelude_part part);

#endif
