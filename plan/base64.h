/* Bytes as text (RFC 4648, section 4): small constants in a plan file. */
#ifndef TDL_PLAN_BASE64_H
#define TDL_PLAN_BASE64_H

#include <stdbool.h>

#include "base/arena.h"

char *base64_encode(arena *a, const void *data, size_t n);

/* Decodes text into exactly n bytes at out.  Returns false if text is not the
 * encoding of n bytes. */
bool base64_decode(const char *text, void *out, size_t n);

#endif
