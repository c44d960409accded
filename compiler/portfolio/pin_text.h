/* The text of pins, of layouts (pins.h) and of stages (stage_pins.h): one a
 * line, up to a #. */
#ifndef TDL_COMPILER_PORTFOLIO_PIN_TEXT_H
#define TDL_COMPILER_PORTFOLIO_PIN_TEXT_H

#include "base/diag.h"

enum { PIN_MOST_TEXT = 16 << 20 }; /* bytes of a file */

/* The text without blanks at its ends; changes it. */
char *pin_trimmed(char *text);

/* The text after `word' and blanks; NULL if text does not begin with these. */
const char *pin_after_word(const char *text, const char *word);

/* Takes a line that is not empty, without comment and blanks at its ends, which
 * it may change; `at' is the whole line.  False when errors were added. */
typedef bool pin_line(void *of, char *line, range at);

/* Hands out all lines of a text, those after one with errors, too.  False when
 * errors were added. */
bool pin_text_read(arena *a, diag_sink *s, const char *path, const char *text,
		   size_t len, pin_line *line, void *of);

#endif
