/* Members of the JSON tables of layers, as layers.c and degrees.c read them: a
 * number that is missing or out of its range is an error with its place. */
#ifndef TDL_COMPILER_PLACEMENT_TABLE_FILE_H
#define TDL_COMPILER_PLACEMENT_TABLE_FILE_H

#include "base/json.h"

#include "base/diag.h"

/* No number of a table is larger, so that no product of a few overflows. */
#define TABLE_MAX_NUMBER 1e30

typedef struct table_file {
	arena *a;
	diag_sink *s;
	const char *path;
} table_file;

/* Adds an error at a place of the file, "layer 3" for example; false. */
bool table_wrong(const table_file *f, const char *where, const char *what);

/* A member of an object with least <= *to <= most; false when an error was
 * added. */
bool table_number(const table_file *f, const json_t *of, const char *where,
		  const char *key, double least, double most, double *to);

/* A whole number from 1 to most; false when an error was added. */
bool table_whole(const table_file *f, const json_t *of, const char *where,
		 const char *key, int most, int *to);

#endif
