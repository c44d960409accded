/* Pins: decisions of the user about a plan, tensors' cuts and operators'
 * strategies.
 *
 * 	NAMES=WORD,WORD..
 *
 * NAMES is a pattern, as in the shell, for names of tensors or of operators;
 * there is a word for each axis of the mesh, or one for all: `cut D' or
 * `replicated' for tensors, `by V' or `whole' for operators.  The last
 * pin that matches a name counts.  A file has a pin on each line; # begins a
 * comment.  A file of JSON is a plan of tensor parallelism
 * (compiler/portfolio/tensor_parallel.h). */
#ifndef TDL_COMPILER_PORTFOLIO_PINS_H
#define TDL_COMPILER_PORTFOLIO_PINS_H

#include "base/cli.h"
#include "compiler/planners/search.h"

/* The texts of pins. */
typedef struct pin_texts {
	cli_words pins;	  /* --pin: one or more lines of pins each */
	const char *file; /* --pins, NULL */
} pin_texts;

static inline bool pins_are_given(const pin_texts *o)
{
	return o->file || o->pins.n > 0;
}

/* A name as a pattern that fits it. */
const char *pins_pattern(arena *a, const char *name);

/* The partial assignment of g that the pins make on a mesh; those of the file
 * are applied first.  NULL when errors were added. */
const partial_assignment *pins_resolve(arena *a, diag_sink *sink,
				       const pin_texts *o, const graph *g,
				       const mesh *m);

#endif
