/* Ideals: sets of groups that contain all predecessors of their members.
 * Dynamic programs over them find exact splits (load_chain.h). */
#ifndef TDL_COMPILER_PLACEMENT_IDEALS_H
#define TDL_COMPILER_PLACEMENT_IDEALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct ideals {
	int n, nwords; /* number of sets; words of each */
	uint64_t *bits;
} ideals;

static inline const uint64_t *ideal_bits(const ideals *s, int i)
{
	return &s->bits[(int64_t)i * s->nwords];
}

static inline bool ideal_has(const ideals *s, int i, int v)
{
	return ideal_bits(s, i)[v / 64] >> (v % 64) & 1;
}

/* Whether a is a subset of b. */
static inline bool ideal_within(const ideals *s, int a, int b)
{
	const uint64_t *x = ideal_bits(s, a), *y = ideal_bits(s, b);
	for (int w = 0; w < s->nwords; w++)
		if (x[w] & ~y[w])
			return false;
	return true;
}

/* An acyclic precedence of elements 0 .. n - 1.  The direct predecessors of v
 * are before[first[v] .. first[v + 1]). */
typedef struct precedence {
	int n;
	const int *first, *before;
} precedence;

/* All ideals, in any order, the empty one first; in a.  NULL if there are more
 * than limit. */
ideals *ideals_all(arena *a, const precedence *p, int limit);

/* The prefixes of one depth-first topological order, the shortest first; in
 * a. */
ideals *ideals_prefixes(arena *a, const precedence *p);

/* The numbers of ideals, the smallest ideal first. */
int *ideals_by_size(arena *a, const ideals *s);

#endif
