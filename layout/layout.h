/* Layouts: which part of a tensor each worker of a mesh has.
 *
 * A layout is a formula over a few values, the same for all workers.  Along an
 * axis of the mesh a tensor is cut, replicated, or partial.  The parts that
 * operators read and produce follow from the cuts of their iteration spaces.
 *
 * Along an axis on which the tensor is stored as partial, a partial result
 * stays where it is: regarding places, a partial axis is one over which the
 * tensor is replicated.  Along its other partial axes the result is shared by
 * the workers that differ only on these axes.  They all produce the same box.
 * Each reduces a share of it, combining the share from all of them.  To form
 * the shares, the axes among these that cut the stored tensor cut the box; each
 * block is then divided over the other such axes into even runs of elements in
 * row-major order: block(0, volume, rank, n).  The shares partition any box.
 * If the other axes agree, the shares are the stored blocks; else the
 * difference is moved.  (Example: axes 0 and 1 both cut rows of the tensor,
 * axis 0 is partial, and rows are computed along axis 1.  Then a share is a
 * piece of rows that are stored elsewhere.) */
#ifndef TDL_LAYOUT_LAYOUT_H
#define TDL_LAYOUT_LAYOUT_H

#include "layout/mesh.h"

typedef enum layout_kind {
	LAYOUT_STORED,	 /* the tensor's block under its cuts */
	LAYOUT_NEEDS,	 /* the bounding box of an operator's reads */
	LAYOUT_PRODUCES, /* the operator's block of the result: a partial result
			    where reduction variables are cut */
	/* the share of such a result that this worker reduces */
	LAYOUT_REDUCED_SHARD,
} layout_kind;

/* A turn of a loop over time: the samples [begin, end) of a batch.  The extent
 * of a dimension that time divides is a multiple of the batch, with equally
 * many elements for each sample; the turn has those of its own samples.  A
 * batch of 0 means that there is no loop. */
typedef struct layout_turn {
	int64_t batch, begin, end;
} layout_turn;

/* Turn i of n: block i of the batch. */
layout_turn layout_turn_of(int64_t batch, int n, int i);

/* Restricts dimension d of a box, which has all samples, to the turn. */
void layout_turn_cut(const layout_turn *t, int d, box *b);

/* The pointers are borrowed. */
typedef struct layout {
	layout_kind kind;
	dtype type; /* of an element */
	int ndim;   /* of the tensor, with its sizes */
	const int64_t *dims;
	const cuts *cuts;     /* STORED, SHARD: of the stored tensor */
	const kernel *kernel; /* all but STORED */
	const cuts *space;    /* .. and the cuts of its variables */
	uint32_t inputs; /* NEEDS: those of its inputs that are the tensor, a
			    bit each */
	/* NEEDS: layout_zero_axes(); on these axes workers with coordinates
	 * above 0 have zeros */
	uint32_t zeros;
	/* In a loop over time: the turn, and the dimension and the variable
	 * that time divides, outside of all axes, or CUT_NONE. */
	layout_turn turn;
	int tensor_time, space_time;
} layout;

/* The whole tensor, and the whole iteration space, in the layout's turn. */
box layout_whole(const layout *l);
box layout_space(const layout *l);

/* The region that the worker with these coordinates has. */
region layout_region(const layout *l, const mesh *m, const int *coords);

/* The same by the worker's number. */
region layout_region_of(const layout *l, const mesh *m, int worker);

/* The axes of the mesh on which the region depends, a bit each. */
uint32_t layout_axes(const layout *l, const mesh *m);

/* The number of elements that all workers have, copies counted. */
int64_t layout_elements(const layout *l, const mesh *m);

/* The most bytes that any worker has. */
int64_t layout_most_bytes(const layout *l, const mesh *m);

/* The axes of m, a bit each, along which a kernel with variables cut by c
 * produces partial results.  They divide a reduction variable, or pass a
 * partial input on. */
uint32_t layout_partial_axes(const mesh *m, const kernel *k, const cuts *c);

/* Those of these axes along which the results are combined before they are
 * stored: the tensor is not partial along them. */
uint32_t layout_combined_axes(const mesh *m, const kernel *k,
			      const cuts *space, const cuts *stored);

/* Whether a kernel passes on all partial axes of a tensor that it reads.
 * `stored' has the tensor's cuts, `inputs' (a bit each) the inputs that are the
 * tensor.  True if the tensor is partial only along axes along which the kernel
 * passes it on, and is replicated or partial along all of these.  For the
 * result, inputs is 0: true if the kernel gives partial results along all axes
 * along which the tensor is partial, by the same reducers. */
bool layout_fits(const mesh *m, const kernel *k, const cuts *space,
		 uint32_t inputs, const cuts *stored);

/* Whether a value that all workers have can stand for one that is partial by a
 * reducer. */
bool layout_serves(reducer by);

/* The axes, a bit each, along which a tensor that fits is replicated but read
 * as a partial sum: the first worker along the axis keeps the value, the others
 * take zeros.  A replicated value can be read as a partial maximum without
 * change. */
uint32_t layout_zero_axes(const mesh *m, const kernel *k, const cuts *space,
			  uint32_t inputs, const cuts *stored);

/* The number of workers along these axes.  They read and hold the same part of
 * the tensor; only the first of them receives what it lacks. */
int layout_zero_share(const mesh *m, const kernel *k, const cuts *space,
		      uint32_t inputs, const cuts *stored);

/* Whether the worker with these coordinates takes zeros. */
bool layout_has_zeros(const mesh *m, uint32_t axes, const int *coords);

/* The reducer of the partial results that a kernel gives along an axis.  `dim'
 * is the axis's element of the cuts of its variables: a variable, or the
 * passing of a partial input. */
reducer layout_axis_reducer(const kernel *k, int dim);

/* The reducer that combines a kernel's partial results; RED_NONE if it gives
 * none. */
reducer layout_reducer(const mesh *m, const kernel *k, const cuts *c);

/* The bounding box of the reads of a part of a kernel's iteration space through
 * the inputs in the mask, which are all the same tensor. */
box layout_needs(const kernel *k, const box *space, uint32_t inputs);

/* The share of a partial result that the worker with these coordinates reduces.
 * `produced' is the result's box, `partial' its partial axes, c the cuts under
 * which it is stored. */
region layout_share(const mesh *m, uint32_t partial, const cuts *c,
		    const box *produced, const int *coords);

/* The number of workers that differ on these axes only. */
int layout_sharers(const mesh *m, uint32_t axes);

/* The number of elements of the box `want' that lie in r. */
int64_t region_held(const region *r, const box *want);

/* Advances coordinates over the given axes, the innermost fastest; the others
 * stay.  Returns false after the last, with all of these 0 again. */
bool mesh_next(const mesh *m, uint32_t axes, int *coords);

#endif
