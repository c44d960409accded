/* The division of a transfer's source over the mesh: which worker owns what. */
#ifndef TDL_LAYOUT_DIVISION_H
#define TDL_LAYOUT_DIVISION_H

#include "layout/layout.h"

/* Nested splits of the dimensions of a box, outermost first; then, for the
 * shares of a partial result, even runs over flat axes.  On all other axes the
 * box is replicated.  The flat axes ascend; so do the axes of the splits,
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
