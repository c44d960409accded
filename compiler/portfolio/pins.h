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

#include "compiler/driver/driver.h"
#include "compiler/planners/search.h"

typedef struct pin_options {
	cli_words pins;	  /* --pin */
	const char *file; /* --pins, NULL */
} pin_options;

#define PIN_OPTIONS(o)                                                       \
	{ CLI_REPEAT, 0, "pin", "NAMES=WORDS",                               \
	  "decide how tensors lie (cut D, replicated) or operators are "     \
	  "divided (by V, whole): a word per axis, or one for all; may be "  \
	  "repeated", &(o)->pins },                                          \
	{ CLI_TEXT, 0, "pins", "FILE",                                       \
	  "the same from a file with such a line for each", &(o)->file }

static inline bool pins_are_given(const pin_options *o)
{
	return o->file || o->pins.n > 0;
}

/* The partial assignment of g that the pins make on a mesh; those of the file
 * are applied first.  NULL when errors were added. */
const partial_assignment *pins_resolve(driver *d, const pin_options *o,
				       const graph *g, const mesh *m);

#endif
