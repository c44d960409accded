/* Pins: the user's decisions about a plan, tensors' cuts and operators'
 * strategies.
 *
 *	NAMES=WORD,WORD..
 *
 * NAMES is a shell pattern for names of tensors or of operators.  There is a
 * word for each axis of the mesh, or one for all: `cut D' or `replicated' for
 * tensors, `by V' or `whole' for operators.  The last pin that matches a name
 * counts.  A file has one pin per line; # begins a comment.  A JSON file is a
 * plan of tensor parallelism (compiler/portfolio/tensor_parallel.h). */
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

/* A pattern that matches exactly this name. */
const char *pins_pattern(arena *a, const char *name);

/* The partial assignment of g that the pins make on a mesh; those of the file
 * are applied first.  In a; NULL after adding errors. */
const partial_assignment *pins_resolve(arena *a, diag_sink *sink,
				       const pin_texts *o, const graph *g,
				       const mesh *m);

#endif
