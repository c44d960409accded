/* The text of a plan file, split into the rows of its tables and the rest.  The
 * tree that a JSON library builds of a large plan takes ten times the memory of
 * its text, so it is parsed one row at a time.  Inside plan/ only. */
#ifndef TDL_PLAN_READ_ROWS_H
#define TDL_PLAN_READ_ROWS_H

#include <stdbool.h>

#include "base/json.h"

enum { MOST_TABLES = 8 };

/* A part of the text: [beg, end). */
typedef struct slice {
	size_t beg, end;
} slice;

typedef struct rows {
	const char *text;
	size_t len;
	int ntables;
	slice tables[MOST_TABLES]; /* between the brackets; empty where the text
				      has no such table */
} rows;

/* Finds the tables: array members of the text's object with these names.  Does
 * not check that the text is JSON. */
rows rows_find(const char *text, size_t len, const char *const *names,
	       int ntables);

/* Whether the trees of each single row, and of the rest, take less than `most'
 * bytes, by an estimate. */
bool rows_fit(const rows *r, size_t most);

/* Parses the object with its tables empty.  Returns NULL, with the place in the
 * text in *e, if it is not JSON. */
json_t *rows_rest(const rows *r, json_error_t *e);

/* An upper bound of the number of rows of a table; only reading the rows shows
 * whether they are JSON. */
int64_t rows_count(const rows *r, int table);

/* Iterates over the rows of a table. */
typedef struct row_cursor {
	const rows *rows;
	slice rest;
	bool started;
} row_cursor;

row_cursor rows_begin(const rows *r, int table);

/* Parses the next row; the caller releases it.  Returns NULL after the last,
 * with e->text empty, and if the text is not JSON. */
json_t *rows_next(row_cursor *c, json_error_t *e);

#endif
