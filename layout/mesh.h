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

/* The axes on which two workers differ, a bit each; a worker's number among
 * those that differ from it on some axes only. */
uint32_t mesh_axes_between(const mesh *m, int v, int w);
int mesh_number_on(const mesh *m, uint32_t axes, int worker);

/* Part of a box: elements first .. first + count of the box `at` in row-major
 * order, densely.  Of a whole box first is 0, count the volume; all buffers
 * but those of LAYOUT_REDUCED_SHARD hold whole boxes. */
typedef struct region {
	box at;
	int64_t first, count;
} region;

/* A division of an index space: per mesh axis the dimension (or variable) that
 * is divided, or CUT_NONE.  Axes that cut one dimension nest, outermost first.
 *
 * Numbers below CUT_NONE divide nothing either.  A tensor is then partial along
 * the axis, cut_partial(r): each group has an array of the full extent, and the
 * value is their reduction by r.  A kernel hands partial inputs on,
 * cut_passing(i): as its passings[i] says. */
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

/* The reducer of a tensor along an axis; RED_NONE where it is not partial. */
static inline reducer cut_reducer(int dim)
{
	return dim < CUT_NONE ? (reducer)(CUT_NONE - 1 - dim) : RED_NONE;
}

/* The one of its passings that a kernel does along an axis; NULL: none. */
static inline const kpassing *cut_passed(const kernel *k, int dim)
{
	return dim < CUT_NONE ? &k->passings[CUT_NONE - 1 - dim] : NULL;
}

/* The axes along which a tensor is partial, a bit each. */
uint32_t cuts_partial(const cuts *c, int naxes);
/* The axes along which nothing is divided. */
uint32_t cuts_whole(const cuts *c, int naxes);

cuts cuts_none(void);

/* The block of whole that the worker with these coordinates has when the
 * first naxes axes cut it. */
box cuts_block(const box *whole, const mesh *m, const cuts *c, int naxes,
	       const int *coords);

/* The extent of the smallest block, over all groups, of an extent n cut by the
 * given axes (those of the first naxes that cut dimension d). */
int64_t cuts_smallest(int64_t n, const mesh *m, const cuts *c, int naxes,
		      int d);

#endif
