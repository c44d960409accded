/* Kernels that are products of matrices, found by their structure: a Sum of the
 * product of two reads whose indices are affine.
 *
 * A variable is a row where it goes through the left read and the result, a
 * column through the right one and the result, depth through both reads and is
 * summed over, a batch through all three.  On blocks in memory each has a
 * stride in each, and variables whose strides continue each other are one. */
#ifndef TDL_PLAN_CONTRACTION_H
#define TDL_PLAN_CONTRACTION_H

#include "plan/eval.h"
#include "plan/index.h"

/* One of the two reads. */
typedef struct factor {
	int input;
	dtype type;
	int ndim;
	lin at[MAX_NDIM];
} factor;

/* Sets of variables, a bit each; those of extent 1 are in none. */
typedef struct contraction {
	factor left, right;
	uint32_t rows, cols, depth, batch;
} contraction;

/* Whether k is one; its parts are in a.  Casts to a wider float around a read
 * are looked through: nothing is rounded there.  An index that is not affine in
 * a variable, h / 4, makes it a batch. */
bool contraction_of(arena *a, const kernel *k, contraction *c);

/* count products that lie `step` elements after each other. */
typedef struct gemm_call {
	int64_t left, right, out; /* elements from the views' data */
	int64_t count, left_step, right_step, out_step;
} gemm_call;

/* out[i, j] = sum over l of left[i, l] * right[l, j], i < rows, j < cols,
 * l < depth, with strides in elements. */
typedef struct gemm {
	int64_t rows, cols, depth;
	int64_t left_row, left_depth, right_depth, right_col, out_row, out_col;
	uint32_t row_vars, col_vars; /* what rows and columns are made of */
	int ncalls;
	gemm_call *calls;
} gemm;

enum { GEMM_MAX_CALLS = 256 };

/* The products that compute a part of the kernel's result from dense or strided
 * views, which cover it as for kernel_eval().  False if there is no summed
 * variable or more than one group of them, or if that takes too many calls. */
bool contraction_gemm(arena *a, const kernel *k, const contraction *c,
		      const box *space, const view *inputs, const view *out,
		      gemm *g);

#endif
