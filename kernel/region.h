/* Regions of tensors: which part of an input does a part of the iteration
 * space read, and which block of a tensor does a worker hold.
 *
 * Everything here is exact integer arithmetic on half-open boxes. Source:
 * Tofu (EuroSys'19) section 4.2, made sound: bounds swap under a negative
 * factor, guards and conditions narrow. */
#ifndef TDL_PLAN_REGION_H
#define TDL_PLAN_REGION_H

#include "plan/kernel.h"

enum { MAX_AXES = 24 }; /* mesh axes: 2^24 devices */

/* [lo, hi) per dimension.  An empty box has lo == hi == 0 in all dimensions;
 * a box of no dimensions holds one element. */
typedef struct box {
	int n;
	int64_t lo[MAX_NVARS], hi[MAX_NVARS];
} box;

box box_whole(const int64_t *dims, int n);
box box_empty(int n);
bool box_is_empty(const box *b);
bool box_equal(const box *a, const box *b);
bool box_contains(const box *outer, const box *inner);
int64_t box_volume(const box *b);
box box_intersect(const box *a, const box *b);
/* The smallest box around both; an empty one adds nothing. */
box box_hull(const box *a, const box *b);
/* |a \ b| */
int64_t box_volume_less(const box *a, const box *b);
/* The number of elements of inner, a box inside outer, among the first n of
 * outer in row-major order. */
int64_t box_count_before(const box *outer, const box *inner, int64_t n);

/* The iteration space of a kernel, whole: every variable has its own extent,
 * where one of them is 0 too. */
box kernel_space(const kernel *k);

/* For a part of the iteration space, the bounding box of the reads of each
 * input, clipped to the input: needs[0..ninputs).  An input that is not read
 * gives an empty box. */
void kernel_needs(const kernel *k, const box *space, box *needs);
/* The same for one input. */
box kernel_need(const kernel *k, const box *space, int input);

/* A read without a guard that is not provably inside its input. */
typedef struct outside {
	const kexpr *read; /* the expression in the kernel's body; for a slice
			      one without indices, for its input */
	int dim;
	int64_t size;	   /* of the input's dimension */
	bool known;	   /* whether lo and hi are known; else intervals do not
			      follow the index */
	int64_t lo, hi;	   /* the index takes values in [lo, hi) */
} outside;

/* Whether there is such a read anywhere in the kernel's iteration space; *o
 * tells the first.  Data-dependent indices are checked in the run and do not
 * count, nor does a read that no point of the space makes. */
bool kernel_reads_outside(const kernel *k, outside *o);

/* The part of the result that a part of the iteration space computes. */
box kernel_produces(const kernel *k, const box *space);

/* ---- nested blocks on a mesh ------------------------------------------- */

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

/* A division of an index space: per mesh axis the dimension (or variable) that
 * is divided, or CUT_NONE.  Axes that cut one dimension nest, outermost
 * first. */
enum { CUT_NONE = -1 };
typedef struct cuts {
	signed char dim[MAX_AXES];
} cuts;

cuts cuts_none(void);

/* Block p of k of [lo, hi): [lo + p*n/k, lo + (p+1)*n/k), n = hi - lo. */
static inline void block(int64_t lo, int64_t hi, int p, int k, int64_t *blo,
			 int64_t *bhi)
{
	int64_t n = hi - lo;
	if (n <= INT32_MAX) {
		*blo = lo + p * n / k;
		*bhi = lo + (p + 1) * n / k;
		return;
	}
	*blo = lo + (int64_t)((__int128)p * n / k);
	*bhi = lo + (int64_t)((__int128)(p + 1) * n / k);
}

/* The block of whole that the worker with these coordinates has when the
 * first naxes axes cut it. */
box cuts_block(const box *whole, const mesh *m, const cuts *c, int naxes,
	       const int *coords);

/* The extent of the smallest block, over all groups, of an extent n cut by the
 * given axes (those of the first naxes that cut dimension d). */
int64_t cuts_smallest(int64_t n, const mesh *m, const cuts *c, int naxes,
		      int d);

#endif
