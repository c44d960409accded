/* Finds the known name that a misspelt one probably stands for, for a note
 * under the error: "did you mean 'softmax'?". */
#ifndef TDL_BASE_SPELLING_H
#define TDL_BASE_SPELLING_H

#include "base/arena.h"
#include "base/diag.h"

typedef struct spelling {
	const char *given;
	/* the nearest of the names tried; NULL if none is near */
	const char *nearest;
	int distance;	     /* of nearest */
} spelling;

/* The restricted Damerau-Levenshtein distance, ignoring case: how many letters
 * must be inserted, deleted, replaced, or swapped with their neighbour to turn
 * a into b.  SPELLING_FAR if a name is longer than SPELLING_MAX. */
#define SPELLING_MAX 63
#define SPELLING_FAR 1000
int spelling_distance(const char *a, const char *b);

/* Tries a known name.  It is near if at most a third of the letters differ, or
 * if one name is a prefix of the other and has three letters or more.  Of
 * equally near names the shortest is kept; of these, the first tried. */
void spelling_try(spelling *s, const char *known);

/* Adds a note under the last diagnostic; nothing if no name is near. */
void spelling_note(const spelling *s, diag_sink *sink);

/* "; did you mean 'softmax'?", or "". */
const char *spelling_hint(const spelling *s, arena *a);

#endif
