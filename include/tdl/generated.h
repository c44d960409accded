/* The interface between a generated kernel and its caller, and the functions
 * that kernels are written with.
 *
 * A kernel computes a part of a tensor:
 *
 *	int kernel(tdl_args *args);
 *
 * It returns 0, or TDL_INDEX_OUTSIDE where a data-dependent index left its
 * input; args->fault then says which.  The result of an element does not depend
 * on the part that is asked for: the terms of a reduction are added in
 * row-major order of the reduction variables, each by one fused multiply-add
 * where the machine has it.  Compile with -ffp-contract=off.
 *
 * The text of a kernel says TDL_KERNEL for its own name and TDL_PART(x) for
 * the names of its helpers; define both before it. */
#ifndef TDL_GENERATED_H
#define TDL_GENERATED_H

#include "tdl/scalar.h"

enum {
	TDL_MAX_NDIM = 12,
	TDL_MAX_NVARS = 24,
	TDL_INDEX_OUTSIDE = 1,
	TDL_SCRATCH = 11 << 18, /* bytes at tdl_args.scratch, 64-byte aligned */
	TDL_STRIP = 256, /* accumulators that are kept beside each other, .. */
	TDL_NARROW = 8, /* .. where each adds up memory of its own */
	TDL_LANES = 32, /* accumulators of one element: each every 32nd term */
	TDL_TERMS = 256, /* of a sum of f32, before it is added to one of f64 */
	TDL_WINDOW_COLS = 512, /* elements of a result's row at a time, .. */
	TDL_WINDOW_SIZE = 8192, /* .. of the plane that they are read from, */
	TDL_WINDOW_PLANE = 3 << 16, /* .. at most if that is one row */
	TDL_SQUARE = 16, /* elements, where two dimensions change places */
};

/* A block of a tensor in memory, dense and row-major. */
typedef struct tdl_block {
	void *data;
	int64_t origin[TDL_MAX_NDIM]; /* the index of the first element */
	int64_t stride[TDL_MAX_NDIM]; /* in elements; the last one is 1 */
} tdl_block;

/* The data-dependent index that was outside its input. */
typedef struct tdl_fault {
	bool found;
	int input, dim;
	int64_t value;
} tdl_fault;

/* A factor of a product that can be kept in packed form.  Sets of variables
 * have a bit each: those around the product, its own rows or columns, and those
 * that are summed over.  For each point of the first, in row-major order, lie
 * whole tiles of its own, and for each tile all of the depth. */
typedef struct tdl_keeps {
	uint32_t inputs; /* that it reads; 0: it cannot be kept */
	uint32_t outer, own, depth;
	int size, tile; /* bytes of an element; rows or columns */
} tdl_keeps;

/* The factors of a run that are kept: of the rows, of the columns. */
typedef struct tdl_kept {
	/* Where they lie, 64-byte aligned; NULL: not kept.  A part of the run
	 * begins, along the factor's own variables, with a whole tile, and is
	 * contiguous in the row-major order of all of them. */
	void *at[2];
	int64_t lo[TDL_MAX_NVARS], hi[TDL_MAX_NVARS]; /* of the whole run */
	/* A bit for each factor: nothing is computed, but part i of n of it is
	 * packed; lo and hi of the arguments are those of the whole run. */
	unsigned fill;
	int i, n;
} tdl_kept;

typedef struct tdl_args {
	int64_t lo[TDL_MAX_NVARS]; /* the part of the iteration space: each */
	int64_t hi[TDL_MAX_NVARS]; /* variable runs over [lo, hi) */
	const tdl_block *in;	   /* each covers what the part reads */
	tdl_block out; /* apart from the inputs, or just the place of one that
			  is read at the result's own index only */
	void *scratch;
	tdl_fault fault;
	const tdl_kept *kept; /* NULL: nothing */
	/* NULL, or: receives what the kernel can keep of either factor, and
	 * nothing is computed; a kernel that keeps none may leave it as it is,
	 * if the part that is asked for is empty. */
	tdl_keeps *keeps;
	const int64_t *numbers; /* of kernels that share a text, which call it
				   TDL_NUMBER_0 and so on; set by them */
} tdl_args;

/* ---- blocks ------------------------------------------------------------ */

/* The offset of element 0, 0, .. of a block's tensor, in elements from the
 * block's data, whether the block holds it or not. */
static inline int64_t tdl_start(const tdl_block *b, int ndim)
{
	int64_t at = 0;
	for (int d = 0; d < ndim; d++)
		at -= b->origin[d] * b->stride[d];
	return at;
}

/* ---- data-dependent indices -------------------------------------------- */

/* The index i of a dimension of n elements, checked: one that is outside is
 * noted, unless one was before, and gives -1. */
static inline int64_t tdl_index(tdl_args *a, int input, int dim, int64_t i,
				int64_t n)
{
	if (tdl_inside(i, n))
		return i;
	if (!a->fault.found)
		a->fault = (tdl_fault){true, input, dim, i};
	return -1;
}

#endif
