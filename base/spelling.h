/* The known name that a misspelt one was probably meant to be, for a note
 * under the error: "did you mean 'softmax'?". */
#ifndef TDL_BASE_SPELLING_H
#define TDL_BASE_SPELLING_H

#include "base/arena.h"
#include "base/diag.h"

typedef struct spelling {
	const char *given;
	const char *nearest; /* of the names tried; NULL if none is near */
	int distance;	     /* of nearest */
} spelling;

/* The restricted Damerau-Levenshtein distance, without regard to case: the
 * number of letters inserted, deleted, replaced, or swapped with their
 * neighbour, to turn a into b.  Names longer than SPELLING_MAX are far from
 * all. */
#define SPELLING_MAX 63
#define SPELLING_FAR 1000
int spelling_distance(const char *a, const char *b);

/* Compares a known name.  It is near if at most a third of the letters differ,
 * or if one name begins with the other, of three letters or more; of equally
 * near names the shortest is kept, of these the first one tried. */
void spelling_try(spelling *s, const char *known);

/* A note under the diagnostic that was added last; nothing if no name is
 * near. */
void spelling_note(const spelling *s, diag_sink *sink);

/* "; did you mean 'softmax'?", or "". */
const char *spelling_hint(const spelling *s, arena *a);

#endif
