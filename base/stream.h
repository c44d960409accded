/* A text that is written with fprintf().  It takes its memory from malloc(),
 * and gives it back when the current call ends in between (base/memory.h). */
#ifndef TDL_BASE_STREAM_H
#define TDL_BASE_STREAM_H

#include <stdio.h>

#include "base/arena.h"
#include "base/memory.h"

/* On the stack of the function that opens and closes it. */
typedef struct text_stream {
	FILE *to;
	char *text;
	size_t len;
	memory_guard guard;
} text_stream;

/* Opens it.  Without memory: ends the current call, or returns NULL, and there
 * is nothing to close. */
FILE *text_stream_open(text_stream *s);

/* The text that was written, *len bytes and a zero, in a; closes the stream.
 * NULL where there was no memory for all of it, or ends the call. */
char *text_stream_close(text_stream *s, arena *a, size_t *len);

#endif
