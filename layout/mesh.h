/* Meshes of workers, and the blocks of a tensor that each of them holds.
 *
 * Everything here is exact integer arithmetic on half-open boxes. */
#ifndef TDL_LAYOUT_MESH_H
#define TDL_LAYOUT_MESH_H

#include "kernel/region.h"

enum {
	MAX_AXES = 24, /* 2^24 devices */
	MESH_MAX_WORKERS = 65536, /* of a plan */
};

/* A mesh of workers, one axis per step of the search, outermost first.  A
 * worker's number is the mixed radix of its coordinates. */
typedef struct mesh {
	int naxes;
	int size[MAX_AXES];
} mesh;

int mesh_workers(const mesh *m);
void mesh_coords(const mesh *m, int worker, int *coords);
int mesh_worker(const mesh *m, const int *coords);

/* The axes on which two workers differ, a bit each; a worker's number among the
 * workers that differ from it only on the given axes. */
uint32_t mesh_axes_between(const mesh *m, int v, int w);
int mesh_number_on(const mesh *m, uint32_t axes, int worker);

/* Part of a box: elements first .. first + count in row-major order of the box
 * `at', stored densely.  A whole box has first 0 and its volume as count.  Only
 * buffers of LAYOUT_REDUCED_SHARD hold less than whole boxes. */
typedef struct region {
	box at;
	int64_t first, count;
} region;

/* A division of an index space: for each mesh axis the dimension (or variable)
 * that it divides, or CUT_NONE.  Axes that cut the same dimension nest,
 * outermost first.  Numbers below CUT_NONE divide nothing either.  For a tensor
 * they are cut_partial(r): the tensor is partial along the axis; each group has
 * an array of the full extent, and the value is their reduction by r.  For a
 * kernel they are cut_passing(i): it passes partial inputs on, by its
 * passings[i]. */
enum { CUT_NONE = -1 };
typedef struct cuts {
	signed char dim[MAX_AXES];
} cuts;

static inline signed char cut_partial(reducer r)
{
	return (signed char)(CUT_NONE - 1 - (int)r);
}

static inline signed char cut_passing(int i)
{
	return (signed char)(CUT_NONE - 1 - i);
}

/* The reducer by which a tensor is partial along an axis; RED_NONE if it is
 * not. */
static inline reducer cut_reducer(int dim)
{
	return dim < CUT_NONE ? (reducer)(CUT_NONE - 1 - dim) : RED_NONE;
}

/* The passing that a kernel does along an axis; NULL if none. */
static inline const kpassing *cut_passed(const kernel *k, int dim)
{
	return dim < CUT_NONE ? &k->passings[CUT_NONE - 1 - dim] : NULL;
}

/* The axes along which a tensor is partial, a bit each. */
uint32_t cuts_partial(const cuts *c, int naxes);
/* The axes along which nothing is divided, a bit each. */
uint32_t cuts_whole(const cuts *c, int naxes);

cuts cuts_none(void);

/* The block of `whole' on the worker with these coordinates when the first
 * naxes axes cut it. */
box cuts_block(const box *whole, const mesh *m, const cuts *c, int naxes,
	       const int *coords);

/* The smallest block of an extent n, over all groups, when those of the first
 * naxes axes that cut dimension d cut it. */
int64_t cuts_smallest(int64_t n, const mesh *m, const cuts *c, int naxes,
		      int d);

#endif
