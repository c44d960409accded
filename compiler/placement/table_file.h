/* Reads members of the JSON tables of layers, for layers.c and degrees.c.  A
 * number that is missing or out of its range is an error with its place. */
#ifndef TDL_COMPILER_PLACEMENT_TABLE_FILE_H
#define TDL_COMPILER_PLACEMENT_TABLE_FILE_H

#include "base/json.h"

#include "base/diag.h"

/* No number in a table may be larger, so that products of a few do not
 * overflow. */
#define TABLE_MAX_NUMBER 1e30

typedef struct table_file {
	arena *a;
	diag_sink *s;
	const char *path;
} table_file;

/* Adds an error at a place in the file, such as "layer 3"; returns false. */
bool table_wrong(const table_file *f, const char *where, const char *what);

/* Reads a member of an object, least <= *to <= most.  Returns false after
 * adding an error. */
bool table_number(const table_file *f, const json_t *of, const char *where,
		  const char *key, double least, double most, double *to);

/* Reads a whole number from 1 to most.  Returns false after adding an error. */
bool table_whole(const table_file *f, const json_t *of, const char *where,
		 const char *key, int most, int *to);

#endif
