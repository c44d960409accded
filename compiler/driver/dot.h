/* Drawings in the DOT language of graphviz, on standard output. */
#ifndef TDL_COMPILER_DRIVER_DOT_H
#define TDL_COMPILER_DRIVER_DOT_H

/* A quoted string; newlines are those of a label. */
void dot_quoted(const char *s);

/* "digraph "NAME" {", and what all drawings have in common; a "}" ends it. */
void dot_begin(const char *name);

/* A vertex "t3" with a label; style: its attributes, "shape=box". */
void dot_vertex(const char *id, int number, const char *label,
		const char *style);

#endif
