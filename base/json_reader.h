/* Reads members of JSON files, none of which is trusted.  Each fault is
 * reported with its place: "measured[1].memory[3]: ..". */
#ifndef TDL_BASE_JSON_READER_H
#define TDL_BASE_JSON_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/json.h"

typedef struct json_reader {
	arena *a;
	diag_sink *s;
	diag_id wrong;	  /* the diagnostic that is added on a fault */
	const char *path; /* of the file */
	const char *part; /* the part of the file: "measured[1]"; "" for all */
} json_reader;

/* Adds an error at the part; returns false. */
bool json_reader_wrong(const json_reader *r, const char *what);

/* A reader for a member of r's part; for element i of a list member. */
json_reader json_reader_member(const json_reader *r, const char *key);
json_reader json_reader_inside(const json_reader *r, const char *key,
			       size_t i);

/* The functions below return false after adding an error. */

/* Reads a number that is at least `least'.  If the member is missing, stores
 * `otherwise', unless that is negative, which makes it an error. */
bool json_reader_number(const json_reader *r, const json_t *of,
			const char *key, double least, double otherwise,
			double *to);

/* Reads a whole number from `least' to `most'. */
bool json_reader_whole(const json_reader *r, const json_t *of,
		       const char *key, int64_t least, int64_t most,
		       int64_t *to);
bool json_reader_count(const json_reader *r, const json_t *of,
		       const char *key, int64_t most, int *to);

/* Checks that an object has no keys but these. */
bool json_reader_keys(const json_reader *r, const json_t *of,
		      const char *const *keys);

/* Reads a string into the reader's arena; "" if the member is missing. */
bool json_reader_string(const json_reader *r, const json_t *of,
			const char *key, const char **to);

/* Reads a list of `least' to `most' members, borrowed from `of'.  If `least' is
 * 0 and the member is missing, stores NULL. */
bool json_reader_list(const json_reader *r, const json_t *of, const char *key,
		      size_t least, size_t most, const json_t **to);

/* Parses a file of at most `most' bytes; no object may have a key twice.
 * Returns NULL, with errors added, on failure.  The caller frees the value with
 * json_decref(). */
json_t *json_reader_file(const json_reader *r, size_t most);

/* The same for a text in memory. */
json_t *json_reader_text(const json_reader *r, const char *text, size_t len);

#endif
