/* Nests: the axes of a mesh that cut an interval, one within the other.
 *
 * Where the parts of two nests of [0, n) are equally long, two parts have the
 * shorter one in common, or nothing: they have something in common if the
 * coordinates of the first axes of both agree, of the second, and so on, until
 * one nest ends.  So how much the parts of all workers have in common follows
 * from the number of coordinates that solve these equations, without a visit of
 * the workers. */
#ifndef TDL_LAYOUT_NEST_H
#define TDL_LAYOUT_NEST_H

#include "layout/mesh.h"

typedef struct nest {
	int n;
	signed char axis[MAX_AXES]; /* the outermost first */
	int64_t parts;		    /* at most mesh_workers() */
} nest;

/* That of no axes: one part. */
nest nest_none(void);

/* Cuts its parts further, by some axes, the first one outermost.  Those of size
 * 1 cut nothing. */
void nest_add(nest *x, const mesh *m, uint32_t axes);

/* Whether each part of y is in x's part with the same coordinates; exact where
 * no part is empty. */
bool nest_covers(const nest *x, const nest *y);

/* The elements that two boxes have in common on each worker, summed over the
 * coordinates on some axes: dimension d of these boxes, of which there are n,
 * is cut by the nests x[d] and y[d] of [0, extent[d]), by no other axes than
 * these.  An axis is in one of the x at most, and in one of the y.  False where
 * that does not follow in this way, or is 2^63 or more. */
bool nest_common(const mesh *m, uint32_t axes, int n, const int64_t *extent,
		 const nest *const *x, const nest *const *y, int64_t *sum);

#endif
