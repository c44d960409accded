/* The state of the writer of a module for JAX, and its parts.  Private to
 * compiler/export. */
#ifndef TDL_COMPILER_EXPORT_JAX_WRITER_H
#define TDL_COMPILER_EXPORT_JAX_WRITER_H

#include "base/intern.h"
#include "base/vec.h"
#include "plan/pipeline.h"

/* Tensors, one after the other. */
typedef VEC(int) jax_tensors;

/* The writer's notes on a stage's plan. */
typedef struct jax_stage {
	const char **functions; /* by node; NULL: not run */
	const struct jax_turn **turns; /* by node that time divides; or NULL */
	const char **names; /* by tensor; NULL: not yet */
	bool *there; /* by tensor: it has a value in the function so far */
	bool *folded;	    /* by tensor: a fold makes it */
	bool *received;	    /* by tensor: it is another stage's */
} jax_stage;

typedef struct jax_writer {
	arena *a;
	const plan_pipeline *all;
	const plan *p; /* the stage that is written */
	jax_stage of;  /* .. and what is known of it */
	jax_stage *stages;
	const char *folder; /* that the module goes to */
	strmap *taken;
	strmap *named;	 /* names of tensors, which are all stages' */
	strmap *written; /* names of functions by their text */
	bool *forward;	 /* by node: what the outputs depend on */
	const char *indent; /* of the lines that are written, in functions */
	const char *number; /* of the turn, in the body of a loop */
	jax_tensors *given; /* of the function of a part of a stage: what it
			       is given; else NULL */
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

/* The name of a tensor's value in functions. */
const char *jax_tensor_name(jax_writer *w, int tensor);

/* "{"a0": 2}": the mesh of the stage. */
const char *jax_mesh(jax_writer *w);

/* Goes on with a stage. */
void jax_enter(jax_writer *w, int stage);

/* "(4, 32), jnp.float32, (None, "a0")": of a tensor, or of a turn's part. */
const char *jax_described(jax_writer *w, int tensor);

/* Writes a RUN, and before it what it is given and is not there. */
void jax_write_node(jax_writer *w, const plan_instr *in);

/* The tensor that has the value of t before the first turn; -1: none. */
int jax_first_of(const plan *p, int t);

/* Writes the functions of a step, and what they return; of a plan of several
 * stages those of their parts, and how these hang together. */
void jax_write_steps(jax_writer *w);
void jax_write_stages(jax_writer *w);

/* Writes the function that makes what the plan has folded of weights. */
void jax_write_fold(jax_writer *w);

#endif
