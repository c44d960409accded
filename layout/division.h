/* The division of a transfer's source over the mesh: who owns what. */
#ifndef TDL_LAYOUT_DIVISION_H
#define TDL_LAYOUT_DIVISION_H

#include "layout/layout.h"

/* Nested splits of the dimensions of a box, the outermost first, then, for the
 * shares of a partial result, even runs over flat axes.  On all other axes it
 * is replicated.  The axes of the flat ones ascend; those of the splits do
 * except where shares are cut. */
typedef struct division {
	box whole;
	int nsplits, nflat;
	struct {
		int axis, dim;
	} split[MAX_AXES];
	int flat[MAX_AXES];
} division;

division division_of(const layout *l, const mesh *m);

/* The number of runs over the flat axes. */
int division_nruns(const division *l, const mesh *m);

#endif
