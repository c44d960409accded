/* A text written with fprintf().  It takes its memory from malloc(), and gives
 * it back if the current call ends early (base/memory.h). */
#ifndef TDL_BASE_STREAM_H
#define TDL_BASE_STREAM_H

#include <stdio.h>

#include "base/arena.h"
#include "base/memory.h"

/* Lives on the stack of the function that opens and closes it. */
typedef struct text_stream {
	FILE *to;
	char *text;
	size_t len;
	memory_guard guard;
} text_stream;

/* Opens the stream.  If there is no memory, ends the current call, or returns
 * NULL and there is nothing to close. */
FILE *text_stream_open(text_stream *s);

/* Closes the stream and returns its text in a: *len bytes and a zero.  If there
 * was no memory for all of it, ends the current call, or returns NULL. */
char *text_stream_close(text_stream *s, arena *a, size_t *len);

#endif
