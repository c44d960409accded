/* The calls of a library that compute a contraction: products of matrices,
 * after copies of factors into another order where they need it.
 *
 * A variable has a stride in each of the three operands.  It is a row where the
 * left factor and the result move with it, a column where the right one and the
 * result do, depth where it is summed over, else a batch.  An index that is not
 * affine in a variable, h / 4, makes it two, h / 4 and h % 4, of which the
 * second is a row.  Variables whose strides continue each other are one.
 *
 * Rows, columns and depth of a call are one such chain each.  The other rows
 * and columns are batches; the other depth is added up by further calls.  A
 * factor, or the result, that is copied has strides of our own choice, which
 * makes longer chains, and columns that begin at multiples of GEMM_COLUMN
 * bytes.  Each set of operands to copy is looked at, and that is taken which
 * moves the fewest bytes beside the product's own, a call or copy counting as
 * GEMM_CALL_BYTES, and operations on columns that begin elsewhere as the bytes
 * that are moved in the time that they take more. */
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
	/* The bytes that a GPU moves while it starts a kernel: 2 us at 2
	 * TB/s. */
	GEMM_CALL_BYTES = 4 << 20,
	/* Copies are for products that have as many operations for each byte
	 * that is copied: a kernel without tensor cores does so many while the
	 * byte is moved. */
	GEMM_FLOP_PER_BYTE = 8,
	GEMM_ALIGN = 256, /* bytes, of each copy */
	GEMM_COLUMN = 16, /* bytes that tensor cores are fed at a time */
	/* Bytes that a copy of an element counts at least, each way: where
	 * columns begin anywhere, elements are copied one by one. */
	GEMM_COPY_BYTES = 4,
	/* Operations of a product of halves, whose columns begin elsewhere,
	 * that take as much longer as a byte takes to move.  An H200 does 100
	 * to 150 TFLOP/s of them, of others 600. */
	GEMM_UNALIGNED_FLOP_PER_BYTE = 64,
};

/* An operand as the library sees it: a dense copy; of the result, one that is
 * brought to its place afterwards. */
typedef struct gemm_copy {
	int64_t nelem; /* between columns, too; 0: the operand is used where it
			  lies */
	int64_t at;    /* of its first element: from the view's data */
	int ndim;
	int64_t count[GEMM_MAX_DIMS];
	int64_t there[GEMM_MAX_DIMS]; /* strides in the view, elements .. */
	int64_t here[GEMM_MAX_DIMS];  /* .. and in the copy */
} gemm_copy;

/* count products, whose operands lie step[] elements after each other. */
typedef struct gemm_call {
	int64_t at[GEMM_SIDES]; /* elements from the views' data, or copies' */
	int64_t count, step[GEMM_SIDES];
	bool adds; /* to what the result is by then */
} gemm_call;

/* A matrix of rows x cols elements, which lie along columns, or, where it is
 * `transposed`, along rows. */
typedef struct gemm_matrix {
	int64_t rows, cols, row_step, col_step;
	bool transposed;
	int64_t step; /* between columns, or rows, as it is stored */
} gemm_matrix;

/* out[i, j] (+)= sum over l of left[i, l] * right[l, j], i < rows, j < cols,
 * l < depth, with strides in elements.  Libraries want it as c = a b with c
 * stored by columns: where the result lies along its columns it is
 * transposed, and so are the factors, which have changed places. */
typedef struct gemm {
	int64_t rows, cols, depth;
	int64_t left_row, left_depth, right_depth, right_col, out_row, out_col;
	uint32_t row_vars, col_vars; /* what rows and columns are made of; of
					a variable's part UINT32_MAX */
	gemm_matrix a, b, c;
	bool swapped;
	gemm_copy copies[GEMM_SIDES];
	int64_t nbytes; /* of all copies, which lie behind each other */
	int ncalls;
	gemm_call *calls;
} gemm;

/* Limits of copies. */
typedef struct gemm_limits {
	int64_t worth; /* operations of the product for each of their bytes;
			  GEMM_FLOP_PER_BYTE */
	int64_t room;  /* bytes of all copies of a run */
} gemm_limits;

/* The products that compute a part of the kernel's result from dense or strided
 * views, which cover it as for kernel_eval(), with copies within the limits.
 * False where they are not such: nothing is summed over, too many calls, types
 * or an order that the library does not take; inner products alone. */
bool gemm_of(arena *a, const kernel *k, const contraction *c, const box *space,
	     const view *inputs, const view *out, const gemm_limits *most,
	     gemm *g);

/* The same of a worker's run, whose addresses do not count, with copies of at
 * most `room` bytes.  A convolution is a product only without copies, but for
 * one that skips most of what it reads: a single tap, with strides. */
bool gemm_of_run(arena *a, const bind_run *r, int64_t room, contraction *c,
		 gemm *g);

/* plan.copies_bytes, where there are `room` bytes beside the arena: the most
 * that a run takes, on a sample of the workers. */
int64_t gemm_plan_bytes(const plan *p, int64_t room);

/* Where the copy of an operand begins, bytes from the first. */
int64_t gemm_copy_at(const gemm *g, const kernel *k, const contraction *c,
		     gemm_side side);

#endif
