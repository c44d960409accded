/* The text of pins, for layouts (pins.h) and stages (stage_pins.h): one pin a
 * line; # begins a comment. */
#ifndef TDL_COMPILER_PORTFOLIO_PIN_TEXT_H
#define TDL_COMPILER_PORTFOLIO_PIN_TEXT_H

#include "base/diag.h"

enum { PIN_MOST_TEXT = 16 << 20 }; /* bytes of a file */

/* The text without blanks at its ends; modifies text. */
char *pin_trimmed(char *text);

/* The text after `word' and blanks; NULL if text does not begin with these. */
const char *pin_after_word(const char *text, const char *word);

/* Called for each line that is not empty, without its comment and without
 * blanks at its ends; may modify it.  `at' is the whole line.  Returns false
 * after adding errors. */
typedef bool pin_line(void *of, char *line, range at);

/* Calls `line' for all lines of a text, including those after a line with
 * errors.  Returns false after adding errors. */
bool pin_text_read(arena *a, diag_sink *s, const char *path, const char *text,
		   size_t len, pin_line *line, void *of);

#endif
