/* The interface between a generated kernel and its caller, and the functions
 * used in kernels.
 *
 * A kernel computes a part of a tensor:
 *
 *	int kernel(tdl_args *args);
 *
 * It returns 0; or TDL_INDEX_OUTSIDE if a data-dependent index left its input,
 * with the details in args->fault.  The value of an element does not depend on
 * the requested part: the terms of a reduction are added in row-major order of
 * the reduction variables, each by one fused multiply-add if the machine has
 * it.  Compile with -ffp-contract=off.
 *
 * The text of a kernel uses TDL_KERNEL for its own name and TDL_PART(x) for the
 * names of its helpers; define both before it. */
#ifndef TDL_GENERATED_H
#define TDL_GENERATED_H

#include "tdl/scalar.h"

enum {
	TDL_MAX_NDIM = 12,
	TDL_MAX_NVARS = 24,
	TDL_INDEX_OUTSIDE = 1,
	TDL_SCRATCH = 11 << 18, /* bytes at tdl_args.scratch, 64-byte aligned */
	TDL_STRIP = 256, /* accumulators kept side by side, .. */
	TDL_NARROW = 8, /* .. or so many if each adds up memory of its own */
	/* accumulators of one element: each takes every 32nd term */
	TDL_LANES = 32,
	/* terms of a sum in f32, before it is added to one in f64 */
	TDL_TERMS = 256,
	TDL_WINDOW_COLS = 512, /* elements of a result's row at a time, .. */
	TDL_WINDOW_SIZE = 8192, /* .. of the plane that they are read from, */
	TDL_WINDOW_PLANE = 3 << 16, /* .. at most if that is one row */
	/* elements of a block in which two dimensions are transposed */
	TDL_SQUARE = 16,
};

/* A block of a tensor in memory, dense and row-major. */
typedef struct tdl_block {
	void *data;
	int64_t origin[TDL_MAX_NDIM]; /* the index of the first element */
	int64_t stride[TDL_MAX_NDIM]; /* in elements; the last one is 1 */
} tdl_block;

/* The data-dependent index that was outside of its input. */
typedef struct tdl_fault {
	bool found;
	int input, dim;
	int64_t value;
} tdl_fault;

/* A factor of a product that can be kept in packed form.  Sets of variables
 * have a bit each: those of loops around the product, the factor's own rows or
 * columns, and those summed over.  For each point of the first, in row-major
 * order, it has whole tiles of its own variables, and in each tile all of the
 * depth. */
typedef struct tdl_keeps {
	uint32_t inputs; /* that it reads; 0: it cannot be kept */
	uint32_t outer, own, depth;
	int size, tile; /* bytes of an element; rows or columns */
} tdl_keeps;

/* The kept factors of a run: of the rows, of the columns. */
typedef struct tdl_kept {
	/* Their memory, 64-byte aligned; NULL: not kept.  Along the factor's
	 * own variables a part of the run begins at a whole tile, and is
	 * contiguous in their row-major order. */
	void *at[2];
	int64_t lo[TDL_MAX_NVARS], hi[TDL_MAX_NVARS]; /* of the whole run */
	/* A bit for each factor: compute nothing, but pack part i of n of it;
	 * lo and hi of the arguments are those of the whole run. */
	unsigned fill;
	int i, n;
} tdl_kept;

typedef struct tdl_args {
	int64_t lo[TDL_MAX_NVARS]; /* the part of the iteration space: each */
	int64_t hi[TDL_MAX_NVARS]; /* variable runs over [lo, hi) */
	const tdl_block *in;	   /* each block covers what the part reads */
	/* apart from the inputs, or in the place of one that is read at the
	 * result's own index only */
	tdl_block out;
	void *scratch;
	tdl_fault fault;
	const tdl_kept *kept; /* NULL: nothing is kept */
	/* NULL; or receives what the kernel can keep of either factor, and
	 * nothing is computed.  A kernel that keeps nothing may leave it
	 * unchanged if the requested part is empty. */
	tdl_keeps *keeps;
	/* of kernels that share a text, which calls them TDL_NUMBER_0 and so
	 * on; set by these kernels */
	const int64_t *numbers;
} tdl_args;

/* ---- blocks ------------------------------------------------------------ */

/* The offset, in elements from the block's data, of element 0, 0, .. of its
 * tensor, even if the block does not hold that element. */
static inline int64_t tdl_start(const tdl_block *b, int ndim)
{
	int64_t at = 0;
	for (int d = 0; d < ndim; d++)
		at -= b->origin[d] * b->stride[d];
	return at;
}

/* ---- data-dependent indices -------------------------------------------- */

/* Checks index i of a dimension of n elements.  Returns -1 if it is outside,
 * and notes it unless an earlier one was noted. */
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
