/* The text of a plan file as its tables' rows, and the rest.  The tree that a
 * JSON library builds of a large plan takes ten times the memory of its text,
 * so that it is parsed a row at a time.  Inside plan/ only. */
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

/* Finds the tables: members of the text's object with these names that are
 * arrays.  It does not check that the text is JSON. */
rows rows_find(const char *text, size_t len, const char *const *names,
	       int ntables);

/* Whether the trees of each row, and of the rest, take less than a number of
 * bytes, by an estimate. */
bool rows_fit(const rows *r, size_t most);

/* The object, its tables empty.  NULL, with the place in the text in *e, where
 * it is no JSON. */
json_t *rows_rest(const rows *r, json_error_t *e);

/* The greatest number of rows that a table can have; only reading them tells
 * whether it is JSON. */
int64_t rows_count(const rows *r, int table);

/* Goes through the rows of a table. */
typedef struct row_cursor {
	const rows *rows;
	slice rest;
	bool started;
} row_cursor;

row_cursor rows_begin(const rows *r, int table);

/* The next row.  NULL after the last one, with e->text empty, and where the
 * text is no JSON. */
json_t *rows_next(row_cursor *c, json_error_t *e);

#endif
