/* Text for a screen of 80 columns: paragraphs and tables.  Widths count the
 * characters of well-formed UTF-8. */
#ifndef TDL_BASE_TEXT_H
#define TDL_BASE_TEXT_H

#include <stdio.h>

#include "base/arena.h"

enum { TEXT_COLUMNS = 80 };

/* The number of characters of s. */
int text_width(const char *s);

/* Writes `text' and a newline; the output is at column `at' before.  Lines
 * break between words and at line feeds, and continue at column `indent'.  A
 * word longer than a line gets a line of its own. */
void text_wrap(FILE *to, const char *text, int at, int indent);
/* Writes `text' with every line indented to column `indent'. */
void text_indented(FILE *to, const char *text, int indent);

/* A table of texts: rows of ncolumns cells.  Columns are as wide as their
 * widest cell. */
typedef struct text_table {
	arena *arena;
	int ncolumns, n, cap;
	const char **cells; /* row by row; borrowed */
} text_table;

text_table table_new(arena *a, int ncolumns);
void table_add(text_table *t, const char *cell);
/* Prints the table.  A row wider than the screen continues on the next line, by
 * whole columns; the last column breaks between words. */
void table_print(const text_table *t, FILE *to, int indent);
/* The same if all rows fit.  Otherwise prints a paragraph per row, headed by
 * the row's first `own' cells. */
void table_print_fitted(const text_table *t, FILE *to, int indent, int own);

#endif
