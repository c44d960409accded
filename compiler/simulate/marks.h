/* The last units to have touched each part of an arena, in the order of a
 * program. */
#ifndef TDL_COMPILER_SIMULATE_MARKS_H
#define TDL_COMPILER_SIMULATE_MARKS_H

#include "base/arena.h"
#include "compiler/simulate/simulate.h"

/* By stream: so many of its units, the first ones. */
typedef struct mark {
	int n[SIMULATED_STREAMS];
} mark;

/* Cells are the leaves of a binary tree, in which `all' is what a whole subtree
 * was given last, `any' the greatest that any cell below was. */
typedef struct marks {
	int nleaves; /* a power of two */
	mark *all, *any;
} marks;

typedef struct cell_span {
	int from, to; /* cells from .. to - 1 */
} cell_span;

marks marks_new(arena *a, int ncells);

/* Marks cells with unit n of a stream, which is not less than any before. */
void marks_raise(marks *x, cell_span s, int stream, int n);

/* Raises *to to the greatest of some cells. */
void marks_latest(const marks *x, cell_span s, mark *to);

#endif
