/* Text under construction, by lines that are indented by tabs. */
#ifndef TDL_COMPILER_CODEGEN_TEXT_H
#define TDL_COMPILER_CODEGEN_TEXT_H

#include "base/vec.h"

typedef struct text {
	arena *a;
	int depth;
	VEC(char) s;
} text;

/* Adds a line; an empty one is not indented. */
void text_line(text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A line that ends in " {" and begins a block, which is indented; and the
 * "}". */
void text_open(text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void text_block(text *t); /* no line, "{" alone */
void text_close(text *t);

/* The lines so far, zero-terminated. */
char *text_end(text *t);

#endif
