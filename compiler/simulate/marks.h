/* For each part of an arena, the last units, in program order, that have
 * touched it. */
#ifndef TDL_COMPILER_SIMULATE_MARKS_H
#define TDL_COMPILER_SIMULATE_MARKS_H

#include "base/arena.h"
#include "compiler/simulate/simulate.h"

/* By stream: the number of its first units that are included. */
typedef struct mark {
	int n[SIMULATED_STREAMS];
} mark;

/* Cells are the leaves of a binary tree.  `all' is the last mark given to a
 * whole subtree, `any' the greatest given to any cell below. */
typedef struct marks {
	int nleaves; /* a power of two */
	mark *all, *any;
} marks;

typedef struct cell_span {
	int from, to; /* cells from .. to - 1 */
} cell_span;

marks marks_new(arena *a, int ncells);

/* Marks cells with unit n of a stream; n is not less than any before. */
void marks_raise(marks *x, cell_span s, int stream, int n);

/* Raises *to to the greatest mark of some cells. */
void marks_latest(const marks *x, cell_span s, mark *to);

#endif
