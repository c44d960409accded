/* Members of JSON from files, of which nothing is trusted: what is wrong is
 * said with its place, "measured[1].memory[3]: ..". */
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
	diag_id wrong;	  /* what is added where something is */
	const char *path; /* of the file */
	const char *part; /* of it: "measured[1]"; "" for all */
} json_reader;

/* Adds an error at the part; false. */
bool json_reader_wrong(const json_reader *r, const char *what);

/* The reader of a member of r's part; of the i-th of a list there. */
json_reader json_reader_member(const json_reader *r, const char *key);
json_reader json_reader_inside(const json_reader *r, const char *key,
			       size_t i);

/* All functions below are false where they have added an error. */

/* A number of at least `least', or `otherwise' where there is none and that is
 * not negative. */
bool json_reader_number(const json_reader *r, const json_t *of,
			const char *key, double least, double otherwise,
			double *to);

/* A whole number from `least' to `most'. */
bool json_reader_whole(const json_reader *r, const json_t *of,
		       const char *key, int64_t least, int64_t most,
		       int64_t *to);
bool json_reader_count(const json_reader *r, const json_t *of,
		       const char *key, int64_t most, int *to);

/* An object that has no other keys than these. */
bool json_reader_keys(const json_reader *r, const json_t *of,
		      const char *const *keys);

/* A text, in the reader's arena; "" where there is none. */
bool json_reader_string(const json_reader *r, const json_t *of,
			const char *key, const char **to);

/* A list of at least `least' members and at most `most', which is *to; NULL
 * where `least' is 0 and there is none. */
bool json_reader_list(const json_reader *r, const json_t *of, const char *key,
		      size_t least, size_t most, const json_t **to);

/* The value of a file of at most `most' bytes, whose objects have no key twice;
 * NULL where it is none, with errors added.  json_decref() frees it. */
json_t *json_reader_file(const json_reader *r, size_t most);

/* The same of a text. */
json_t *json_reader_text(const json_reader *r, const char *text, size_t len);

#endif
