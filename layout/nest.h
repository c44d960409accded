/* Nests: the axes of a mesh that cut an interval, one within the other.
 *
 * If the parts of two nests of [0, n) have equal lengths, any two parts share
 * either the shorter of the two or nothing.  They share it if the coordinates
 * on the first axes of both nests agree, those on the second axes, and so on
 * until one nest ends.  The overlap summed over all workers therefore follows
 * from the number of coordinates that solve these equations, without visiting
 * the workers. */
#ifndef TDL_LAYOUT_NEST_H
#define TDL_LAYOUT_NEST_H

#include "layout/mesh.h"

typedef struct nest {
	int n;
	signed char axis[MAX_AXES]; /* the outermost first */
	int64_t parts;		    /* at most mesh_workers() */
} nest;

/* The nest of no axes: one part. */
nest nest_none(void);

/* Cuts the parts of x further by some axes, a bit each, the first outermost.
 * Axes of size 1 cut nothing. */
void nest_add(nest *x, const mesh *m, uint32_t axes);

/* Whether each part of y lies in the part of x with the same coordinates.
 * Exact if no part is empty. */
bool nest_covers(const nest *x, const nest *y);

/* Sums over the coordinates on some axes the elements that two boxes have in
 * common on each worker.  Dimension d of the n dimensions is cut by the nests
 * x[d] and y[d] of [0, extent[d]), and by no other axes than these.  An axis is
 * in at most one of the x, and in at most one of the y.  Returns false if the
 * sum does not follow from the nests, or is 2^63 or more. */
bool nest_common(const mesh *m, uint32_t axes, int n, const int64_t *extent,
		 const nest *const *x, const nest *const *y, int64_t *sum);

#endif
