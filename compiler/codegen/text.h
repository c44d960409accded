/* Text under construction, in lines indented by tabs. */
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

/* Adds a line that ends in " {" and opens an indented block; text_close() adds
 * the "}". */
void text_open(text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void text_block(text *t); /* no line, "{" alone */
void text_close(text *t);

/* The lines so far, zero-terminated. */
char *text_end(text *t);

#endif
