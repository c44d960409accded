/* The state of the writer of a module for JAX, and its parts.  Private to
 * compiler/export. */
#ifndef TDL_COMPILER_EXPORT_JAX_WRITER_H
#define TDL_COMPILER_EXPORT_JAX_WRITER_H

#include "base/intern.h"
#include "base/vec.h"
#include "plan/plan.h"

typedef struct jax_writer {
	arena *a;
	const plan *p;
	const char *folder; /* that the module goes to */
	strmap *taken;
	strmap *written; /* names of functions by their text */
	const char **functions; /* by node; NULL: not run */
	const char **names;	/* by tensor; NULL: not yet */
	bool *forward;		/* by node: what the outputs depend on */
	bool *folded; /* by tensor: a fold makes it */
	bool *there; /* by tensor: it has a value in the function so far */
	const struct jax_turn **turns; /* by node that time divides; or NULL */
	const char *indent; /* of the lines that are written, in functions */
	const char *number; /* of the turn, in the body of a loop */
	VEC(char) text;
} jax_writer;

void jax_say(jax_writer *w, const char *s);
#define SAY(...) jax_say(w, arena_printf(w->a, __VA_ARGS__))

/* Whether the caller keeps a tensor from step to step: states, and weights that
 * no step changes, but those from which constants alone follow. */
bool jax_is_state(const jax_writer *w, int tensor);

/* The name of the function of a kernel, which it writes unless there is one of
 * the same text. */
const char *jax_write_kernel(jax_writer *w, const kernel *k);

/* Writes the functions of a step, and what they return. */
void jax_write_steps(jax_writer *w);

/* Writes the function that makes what the plan has folded of weights. */
void jax_write_fold(jax_writer *w);

#endif
