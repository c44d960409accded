/* Texts that are nearly what a reader accepts. */
#ifndef TDL_TESTS_UNIT_BROKEN_TEXT_H
#define TDL_TESTS_UNIT_BROKEN_TEXT_H

#include <stddef.h>

#include "tests/unit/random_layouts.h"

/* Changes one place of a text of n > 1 bytes, for which there is room for 40
 * more: a byte, a digit, a piece that is left out or is there twice, the end
 * that is missing.  Returns the new length. */
size_t break_text(rng *r, char *text, size_t n);

#endif
