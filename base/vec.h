/* Growable arrays in an arena.
 *
 *	VEC(int) v = { 0 };
 *	vec_push(a, &v, 3);
 *	for (int i = 0; i < v.n; i++) use(v.at[i]);
 *
 * The capacity doubles; outgrown storage stays until the arena is freed. */
#ifndef TDL_BASE_VEC_H
#define TDL_BASE_VEC_H

#include "base/arena.h"

#define VEC(type)          \
	struct {           \
		type *at;  \
		int n;     \
		int cap;   \
	}

#define vec_push(a, v, x)                                                 \
	((void)((v)->n < (v)->cap ||                                      \
		((v)->at = vec_grow((a), (v)->at, &(v)->cap,              \
				    sizeof(*(v)->at)), 0)),               \
	 (void)((v)->at[(v)->n++] = (x)))

/* Grows an array: returns room for twice as many objects of the given size, at
 * least 8, and copies the first *cap.  Used through vec_push(). */
void *vec_grow(arena *a, void *at, int *cap, size_t size);

#endif
