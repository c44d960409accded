/* Kernels that are convolutions, or a convolution's gradients, found by their
 * structure.  With x at position stride * i + dilation * r - pad, and 0
 * outside,
 *
 *	y[n, k, i..] = Sum(c, r..) x[n, c, ..] * w[k, c, r..]	forward
 *	x[n, c, h..] = Sum(k, r..) y[n, k, i..] * w[k, c, r..]	of the data
 *	w[k, c, r..] = Sum(n, i..) y[n, k, i..] * x[n, c, ..]	of the filter
 *
 * with dimensions in any order. */
#ifndef TDL_KERNEL_CONVOLUTION_H
#define TDL_KERNEL_CONVOLUTION_H

#include "kernel/eval.h"

enum { CONV_MAX_SPATIAL = 3, CONV_MAX_NDIM = 2 + CONV_MAX_SPATIAL };

typedef enum conv_kind { CONV_FORWARD, CONV_DATA, CONV_FILTER } conv_kind;

/* The operands, x, w and y. */
typedef enum conv_side { CONV_X, CONV_W, CONV_Y, CONV_SIDES } conv_side;

/* Along one spatial dimension. */
typedef struct conv_axis {
	int out, tap; /* variables: of y (of x in CONV_DATA) and of w */
	int64_t stride, dilation, pad;
} conv_axis;

typedef struct convolution {
	conv_kind kind;
	int n, k, c; /* variables */
	/* With several groups: `each' channels of the result (of x in
	 * CONV_DATA) form a group, which reads `size' channels of the other
	 * operand. */
	int64_t groups, each, size;
	int nspatial;
	conv_axis axes[CONV_MAX_SPATIAL];
	/* the kernel's input; ninputs stands for its result */
	int operand[CONV_SIDES];
	/* By operand, the tensor's dimension of each role. x: n, c, positions;
	 * w: k, c, taps; y: n, k, positions. */
	int dim[CONV_SIDES][CONV_MAX_NDIM];
} convolution;

/* Whether a kernel is a convolution without groups, of one to three spatial
 * dimensions.  Casts of a read to a wider float are ignored. */
bool convolution_of(const kernel *k, convolution *c);

/* The same, with or without groups of channels. */
bool convolution_in_groups(const kernel *k, convolution *c);

/* An operand of a call: dims[] and strides[] in the order of
 * convolution.dim[]. */
typedef struct conv_operand {
	int64_t at; /* elements from the view's data */
	int64_t dims[CONV_MAX_NDIM], strides[CONV_MAX_NDIM];
} conv_operand;

/* A convolution on parts of the tensors. x begins `pad' before its first
 * element; after its last element zeros follow, as many as y needs. */
typedef struct conv_call {
	conv_kind kind;
	int64_t groups; /* w has the channels of one group */
	int nspatial;
	conv_operand on[CONV_SIDES];
	int64_t stride[CONV_MAX_SPATIAL], dilation[CONV_MAX_SPATIAL];
	int64_t pad[CONV_MAX_SPATIAL];
} conv_call;

/* The call that computes a part of the kernel's result from views that cover
 * it, as kernel_eval() requires.  Returns false if there is none: the part is
 * empty or would need a negative pad. */
bool convolution_call(const kernel *k, const convolution *c, const box *space,
		      const view *inputs, const view *out, conv_call *to);

#endif
