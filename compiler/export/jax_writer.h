/* The state of the writer of a module for JAX, and its parts.  Private to
 * compiler/export. */
#ifndef TDL_COMPILER_EXPORT_JAX_WRITER_H
#define TDL_COMPILER_EXPORT_JAX_WRITER_H

#include "base/intern.h"
#include "base/vec.h"
#include "plan/pipeline.h"

/* A list of tensors. */
typedef VEC(int) jax_tensors;

/* The writer's notes on a stage's plan. */
typedef struct jax_stage {
	const char **functions; /* by node; NULL: not run */
	const struct jax_turn **turns; /* by node that time divides; or NULL */
	const char **names; /* by tensor; NULL: not yet */
	/* by tensor: it has a value at this point of the function */
	bool *there;
	bool *folded;	    /* by tensor: a fold computes it */
	bool *received;	    /* by tensor: it comes from another stage */
} jax_stage;

typedef struct jax_writer {
	arena *a;
	const plan_pipeline *all;
	const plan *p; /* the stage being written */
	jax_stage of;  /* .. and its notes */
	jax_stage *stages;
	const char *folder; /* folder of the module */
	strmap *taken;
	strmap *named;	 /* names of tensors, common to all stages */
	strmap *written; /* names of functions by their text */
	bool *forward;	 /* by node: the outputs depend on it */
	const char *indent; /* of lines in functions */
	/* name of the turn's number in the body of a loop */
	const char *number;
	/* arguments of the function for a part of a stage; else NULL */
	jax_tensors *given;
	VEC(char) text;
} jax_writer;

void jax_say(jax_writer *w, const char *s);
#define SAY(...) jax_say(w, arena_printf(w->a, __VA_ARGS__))

/* Whether the caller keeps a tensor from step to step: states, and weights that
 * no step changes, except those from which only constants follow. */
bool jax_is_state(const jax_writer *w, int tensor);

/* The name of a kernel's function.  Writes the function unless one with the
 * same text exists. */
const char *jax_write_kernel(jax_writer *w, const kernel *k);

/* The name of a tensor's value in functions. */
const char *jax_tensor_name(jax_writer *w, int tensor);

/* "{"a0": 2}": the mesh of the stage. */
const char *jax_mesh(jax_writer *w);

/* Continues with a stage. */
void jax_enter(jax_writer *w, int stage);

/* "(4, 32), jnp.float32, (None, "a0")": a description of a tensor, or of a
 * turn's part of it. */
const char *jax_described(jax_writer *w, int tensor);

/* Writes a RUN, preceded by those of its inputs that have no value yet. */
void jax_write_node(jax_writer *w, const plan_instr *in);

/* The tensor that has the value of t before the first turn; -1 if none. */
int jax_first_of(const plan *p, int t);

/* Write the functions of a step and what they return; for a plan of several
 * stages, the functions of their parts and how these are connected. */
void jax_write_steps(jax_writer *w);
void jax_write_stages(jax_writer *w);

/* Writes the function that computes the constants which the plan has folded
 * from weights. */
void jax_write_fold(jax_writer *w);

#endif
