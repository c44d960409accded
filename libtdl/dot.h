/* Drawings in the DOT language of graphviz. */
#ifndef TDL_LIBTDL_DOT_H
#define TDL_LIBTDL_DOT_H

#include <stdio.h>

/* A quoted string; newlines are those of a label. */
void dot_quoted(FILE *to, const char *s);

/* "digraph "NAME" {", and what all drawings have in common; a "}" ends it. */
void dot_begin(FILE *to, const char *name);

/* A vertex "t3" with a label; style: its attributes, "shape=box". */
void dot_vertex(FILE *to, const char *id, int number, const char *label,
		const char *style);

#endif
