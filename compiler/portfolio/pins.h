/* Pins: decisions of the user about a plan, tensors' cuts and operators'
 * strategies.
 *
 * 	NAMES=WORD,WORD..
 *
 * NAMES is a pattern of tensors' names, or of operators', as the shell's; the
 * words are one for each axis of the mesh, or one for all: `cut D' or
 * `replicated' for tensors, `by V' or `whole' for operators.  Of several that
 * fit a name the last one counts.  In a file each has a line; # begins a
 * comment. */
#ifndef TDL_COMPILER_PORTFOLIO_PINS_H
#define TDL_COMPILER_PORTFOLIO_PINS_H

#include "base/cli.h"
#include "compiler/planners/search.h"

/* The texts of pins. */
typedef struct pin_texts {
	cli_words pins;	  /* --pin: a pin, or lines of them, each */
	const char *file; /* --pins, NULL */
} pin_texts;

static inline bool pins_are_given(const pin_texts *o)
{
	return o->file || o->pins.n > 0;
}

/* The partial assignment of g that the pins make on a mesh; those of the file
 * are applied first.  NULL when errors were added. */
const partial_assignment *pins_resolve(arena *a, diag_sink *sink,
				       const pin_texts *o, const graph *g,
				       const mesh *m);

#endif
