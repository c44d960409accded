/* Maps a contraction to library calls: products of matrices, with copies of
 * operands into another order where the library needs it.
 *
 * A variable has a stride in each of the three operands.  It is a row if the
 * left factor and the result move with it; a column if the right factor and the
 * result do; depth if it is summed over; else a batch.  An index that is not
 * affine in a variable, such as h / 4, splits the variable into h / 4 and h %
 * 4, and the second is a row.  Variables whose strides continue each other are
 * joined.
 *
 * A call takes one such joined variable each for its rows, columns and depth.
 * The other rows and columns are batches; further calls add up the other depth.
 * A copied operand gets strides of our choice, which joins more variables, and
 * columns that begin at multiples of GEMM_COLUMN bytes.  All sets of operands
 * to copy are tried.  The set that moves the fewest bytes beyond the product's
 * own wins, where a call or copy counts as GEMM_CALL_BYTES, and operations on
 * unaligned columns count as the bytes that could be moved in the extra time
 * they take. */
#ifndef TDL_PLAN_GEMM_H
#define TDL_PLAN_GEMM_H

#include "kernel/contraction.h"
#include "kernel/eval.h"
#include "plan/cuda_binding.h"

typedef enum gemm_side {
	GEMM_LEFT,
	GEMM_RIGHT,
	GEMM_OUT,
	GEMM_SIDES
} gemm_side;

enum {
	GEMM_MAX_CALLS = 256,
	GEMM_MAX_DIMS = 2 * MAX_NVARS,
	/* Bytes that a GPU moves while it starts a kernel: 2 us at 2 TB/s. */
	GEMM_CALL_BYTES = 4 << 20,
	/* Copies pay off for products with at least this many operations per
	 * byte copied: what a kernel without tensor cores does in the time that
	 * moves a byte. */
	GEMM_FLOP_PER_BYTE = 8,
	GEMM_ALIGN = 256, /* bytes, of each copy */
	GEMM_COLUMN = 16, /* bytes that tensor cores load at a time */
	/* The least bytes that copying an element counts as, each way: with
	 * unaligned columns, elements are copied one by one. */
	GEMM_COPY_BYTES = 4,
	/* Operations of a product of halves with unaligned columns whose extra
	 * time equals that of moving a byte.  An H200 does 100 to 150 TFLOP/s
	 * of these, 600 of aligned ones. */
	GEMM_UNALIGNED_FLOP_PER_BYTE = 64,
};

/* A dense copy that the library reads in place of an operand, or writes in
 * place of the result, which is then copied to its place. */
typedef struct gemm_copy {
	/* with gaps between columns; 0: the operand is used in place */
	int64_t nelem;
	int64_t at;    /* of its first element: elements from the view's data */
	int ndim;
	int64_t count[GEMM_MAX_DIMS];
	int64_t there[GEMM_MAX_DIMS]; /* strides in the view, elements .. */
	int64_t here[GEMM_MAX_DIMS];  /* .. and in the copy */
} gemm_copy;

/* A batch of `count' products whose operands are step[] elements apart. */
typedef struct gemm_call {
	/* elements from the view's data, or from the copy's */
	int64_t at[GEMM_SIDES];
	int64_t count, step[GEMM_SIDES];
	bool adds; /* adds to the current content of the result */
} gemm_call;

/* A matrix of rows x cols elements, stored by columns, or by rows if
 * `transposed'. */
typedef struct gemm_matrix {
	int64_t rows, cols, row_step, col_step;
	bool transposed;
	int64_t step; /* elements between stored columns, or rows */
} gemm_matrix;

/* out[i, j] (+)= sum over l of left[i, l] * right[l, j], i < rows, j < cols, l
 * < depth, with strides in elements.  Libraries expect c = a b with c stored by
 * columns.  A result stored by rows is therefore transposed: the factors are
 * swapped and transposed as well. */
typedef struct gemm {
	int64_t rows, cols, depth;
	int64_t left_row, left_depth, right_depth, right_col, out_row, out_col;
	/* variables that rows and columns consist of; UINT32_MAX for a part of
	 * a variable */
	uint32_t row_vars, col_vars;
	gemm_matrix a, b, c;
	bool swapped;
	gemm_copy copies[GEMM_SIDES];
	int64_t nbytes; /* of all copies, stored one after the other */
	int ncalls;
	gemm_call *calls;
} gemm;

/* Limits of copies. */
typedef struct gemm_limits {
	/* least operations of the product per byte copied;
	 * GEMM_FLOP_PER_BYTE */
	int64_t worth;
	int64_t room;  /* bytes of all copies of a run */
} gemm_limits;

/* Finds the products that compute a part of the kernel's result from dense or
 * strided views, which cover it as kernel_eval() requires, with copies within
 * the limits. *g is in a.  Returns false if the library cannot compute it:
 * nothing is summed over, there are too many calls, a type or order is not
 * supported, or there are only inner products. */
bool gemm_of(arena *a, const kernel *k, const contraction *c, const box *space,
	     const view *inputs, const view *out, const gemm_limits *most,
	     gemm *g);

/* The same for a worker's run, whose addresses are ignored, with copies of at
 * most `room' bytes.  A convolution is a product only if it needs no copies, or
 * if it skips most of what it reads (a single tap, with strides). */
bool gemm_of_run(arena *a, const bind_run *r, int64_t room, contraction *c,
		 gemm *g);

/* The value for plan.copies_bytes if there are `room' bytes beside the arena:
 * the most that a run takes, over a sample of the workers. */
int64_t gemm_plan_bytes(const plan *p, int64_t room);

/* The offset of an operand's copy in bytes from the first copy. */
int64_t gemm_copy_at(const gemm *g, const kernel *k, const contraction *c,
		     gemm_side side);

#endif
