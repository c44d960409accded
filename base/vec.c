#include "config.h"

#include "base/vec.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

void *vec_grow(arena *a, void *at, int *cap, size_t size)
{
	assert(*cap <= INT_MAX / 2);
	int ncap = *cap ? *cap * 2 : 8;
	void *p = arena_calloc(a, (size_t)ncap, size);
	if (*cap)
		memcpy(p, at, (size_t)*cap * size);
	*cap = ncap;
	return p;
}
