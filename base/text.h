/* Text for a screen of 80 columns: paragraphs and tables.  Widths count
 * characters, of UTF-8 that is well-formed. */
#ifndef TDL_BASE_TEXT_H
#define TDL_BASE_TEXT_H

#include <stdio.h>

#include "base/arena.h"

enum { TEXT_COLUMNS = 80 };

/* The number of characters of s. */
int text_width(const char *s);

/* Writes `text' from column `at', where the line stands, and a newline.  Lines
 * break between words and at line feeds, and go on at column `indent'; a word
 * that is longer than a line stands alone. */
void text_wrap(FILE *to, const char *text, int at, int indent);
/* Writes `text' with all lines from column `indent' on. */
void text_indented(FILE *to, const char *text, int indent);

/* A table of texts: rows of ncolumns cells, as wide as they have to be. */
typedef struct text_table {
	arena *arena;
	int ncolumns, n, cap;
	const char **cells; /* row by row; borrowed */
} text_table;

text_table table_new(arena *a, int ncolumns);
void table_add(text_table *t, const char *cell);
/* A row that is wider than the screen goes on in the next line, by whole
 * columns; the last column breaks between words. */
void table_print(const text_table *t, FILE *to, int indent);
/* The same where all rows fit; else a paragraph for each row, with its first
 * `own' cells as the heading. */
void table_print_fitted(const text_table *t, FILE *to, int indent, int own);

#endif
