/* Layouts: which part of a tensor each worker of a mesh has.
 *
 * A layout is a formula on few values, the same for all workers.  Along an axis
 * of the mesh a tensor is cut, replicated, or partial; the parts that operators
 * read and produce follow from the cuts of their iteration spaces.
 *
 * A result that is partial along axes along which the tensor is stored so,
 * too, stays as it is there: as far as places go, a partial axis is one over
 * which the tensor is replicated.  Along the other axes on which it is partial
 * it is shared by the workers that differ only on these.  Of the box that they
 * all produce each reduces a share, combining it from all of them: the box,
 * cut by those of these axes that cut the stored tensor, and of that block,
 * over the other such axes, an even run of elements in row-major order:
 * block(0, volume, rank, n).  Shares are a partition of the box, whatever it
 * is.  Where the other axes agree they are the stored blocks; else the
 * difference is moved.  (With the axes 0 and 1 both cutting rows of the
 * tensor, a partial axis 0 and rows computed along axis 1, a share is a piece
 * of rows that are stored elsewhere.) */
#ifndef TDL_LAYOUT_LAYOUT_H
#define TDL_LAYOUT_LAYOUT_H

#include "layout/mesh.h"

typedef enum layout_kind {
	LAYOUT_STORED,	 /* the tensor's block under its cuts */
	LAYOUT_NEEDS,	 /* the bounding box of an operator's reads */
	LAYOUT_PRODUCES, /* the operator's block of the result: a partial result
			    where reduction variables are cut */
	LAYOUT_REDUCED_SHARD, /* the share of such a result that the worker
				 reduces */
} layout_kind;

/* A turn of a loop over time: the samples [begin, end) of a batch.  An extent
 * that time divides is a multiple of the batch, so many elements for each
 * sample, and the turn has those of its own samples.  A batch of 0: there is no
 * loop. */
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
	uint32_t zeros;	 /* NEEDS: of layout_zero_axes(); on these axes workers
			    with coordinates above 0 have zeros */
	/* In a loop over time, the turn, and the dimension and the variable
	 * that time divides, outside of all axes; CUT_NONE. */
	layout_turn turn;
	int tensor_time, space_time;
} layout;

/* All of the tensor, and all of the iteration space, in the layout's turn. */
box layout_whole(const layout *l);
box layout_space(const layout *l);

/* The region that the worker with these coordinates has. */
region layout_region(const layout *l, const mesh *m, const int *coords);

/* The same by the worker's number. */
region layout_region_of(const layout *l, const mesh *m, int worker);

/* The axes of the mesh on which the region depends, a bit each. */
uint32_t layout_axes(const layout *l, const mesh *m);

/* The elements that all workers have, copies counted. */
int64_t layout_elements(const layout *l, const mesh *m);

/* The most bytes that any worker has. */
int64_t layout_most_bytes(const layout *l, const mesh *m);

/* The axes, of those of m, along which a kernel whose variables are cut by c
 * produces partial results: a bit each.  These divide a reduction variable, or
 * hand a partial input on. */
uint32_t layout_partial_axes(const mesh *m, const kernel *k, const cuts *c);

/* Those of them along which the results are combined before they are stored:
 * the tensor is not partial along them. */
uint32_t layout_combined_axes(const mesh *m, const kernel *k,
			      const cuts *space, const cuts *stored);

/* Whether a tensor stored under some cuts is partial only along those axes
 * along which a kernel hands it on, as it reads it through the inputs in the
 * mask, and replicated or partial along all of these; of the result, mask 0:
 * whether the kernel gives partial results along all axes along which the
 * tensor is partial, by the same reducers. */
bool layout_fits(const mesh *m, const kernel *k, const cuts *space,
		 uint32_t inputs, const cuts *stored);

/* Whether a value that all have can stand for one that is partial by a
 * reducer. */
bool layout_serves(reducer by);

/* The axes along which a tensor that fits is replicated and read as a partial
 * sum, a bit each: the first worker along the axis keeps it, the others take
 * zeros.  What is replicated serves as a partial maximum as it is. */
uint32_t layout_zero_axes(const mesh *m, const kernel *k, const cuts *space,
			  uint32_t inputs, const cuts *stored);

/* The number of workers along these axes.  They read the same and hold the same
 * of it, and the first of them alone receives what it lacks. */
int layout_zero_share(const mesh *m, const kernel *k, const cuts *space,
		      uint32_t inputs, const cuts *stored);

/* Whether the worker with these coordinates has zeros. */
bool layout_has_zeros(const mesh *m, uint32_t axes, const int *coords);

/* The reducer of the partial results that a kernel gives along an axis which
 * divides a variable, or hands partial inputs on: an element of its cuts. */
reducer layout_axis_reducer(const kernel *k, int dim);

/* The reducer that combines these; RED_NONE where there are none. */
reducer layout_reducer(const mesh *m, const kernel *k, const cuts *c);

/* The bounding box of what a part of a kernel's iteration space reads through
 * the inputs in the mask, which are one tensor. */
box layout_needs(const kernel *k, const box *space, uint32_t inputs);

/* The share of the box `produced', which is partial along some axes and stored
 * under the cuts c, that the worker with these coordinates reduces. */
region layout_share(const mesh *m, uint32_t partial, const cuts *c,
		    const box *produced, const int *coords);

/* The number of workers that differ on these axes only. */
int layout_sharers(const mesh *m, uint32_t axes);

/* Elements of the box `want` that lie in r. */
int64_t region_held(const region *r, const box *want);

/* The next coordinates, counted over the given axes, the innermost first; the
 * others stay.  False behind the last, when all of these are 0 again. */
bool mesh_next(const mesh *m, uint32_t axes, int *coords);

#endif
