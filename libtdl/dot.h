/* Drawings in the DOT language of graphviz. */
#ifndef TDL_LIBTDL_DOT_H
#define TDL_LIBTDL_DOT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "libtdl/blocks.h"

/* A quoted string; its newlines break the label. */
void dot_quoted(FILE *to, const char *s);

/* "digraph "NAME" {", and what all drawings have in common.  The caller ends it
 * with "}". */
void dot_begin(FILE *to, const char *name);

/* A vertex "t3" with a label; style: its attributes, "shape=box". */
void dot_vertex(FILE *to, const char *id, int number, const char *label,
		const char *style);

/* The label for equal blocks: "12 x layer_{0..11}". */
const char *dot_times(arena *a, const char *name, int n);

/* Vertex "n3" for equal blocks: "12 x layer_{0..11}, part 2" and the number of
 * operators in each, or `op' if it is one operator; `more' is in the lines
 * below. output: some result leaves the drawing. */
void dot_block(FILE *to, arena *a, int number, const block_group *b,
	       const char *op, const char *more, bool output);

#endif
