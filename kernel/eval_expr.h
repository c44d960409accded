/* The state of one evaluation of a kernel: the current point, and the
 * expressions prepared for evaluation at many points.  Private to the
 * interpreter (kernel/eval.h). */
#ifndef TDL_KERNEL_EVAL_EXPR_H
#define TDL_KERNEL_EVAL_EXPR_H

#include <assert.h>

#include "kernel/eval.h"

/* A dimension of a view through which a read goes. */
typedef struct eval_place {
	int64_t size;	/* of the input */
	int64_t lo, hi; /* the range that the view holds */
	int64_t stride;
	bool masked; /* a derived variable runs over [from, to) */
	int64_t from, to;
} eval_place;

/* An expression with all look-ups made that do not depend on the point. */
typedef struct eval_node eval_node;
struct eval_node {
	kexpr_kind kind;
	dtype type; /* of the value */
	dtype of;   /* of the arguments */
	fn fn;
	int var, input, ndim, nargs;
	int64_t i;
	double f;
	eval_node **args;
	const eval_place *at; /* KX_READ: per dimension */
	const view *view;
	bool guarded;
};

typedef struct evaluation {
	const kernel *k;
	const view *inputs;
	const box *space;
	arena *work;
	int64_t point[MAX_NVARS];
	eval_status status;
	eval_fault fault;
} evaluation;

/* ---- eval_expr.c ------------------------------------------------------- */

/* Prepares e, in r->work. */
eval_node *eval_prepare(evaluation *r, const kexpr *e);

/* The value of n at the point: for a float type; for an integer type or
 * bool. */
double eval_float(evaluation *r, const eval_node *n);
int64_t eval_int(evaluation *r, const eval_node *n);

/* The bits of n's value.  An element that is read keeps its own bits:
 * conversion to double and back might change those of a NaN. */
uint64_t eval_bits(evaluation *r, const eval_node *n);

/* Notes an index outside of its input's dimension; only the first is kept. */
void eval_index_fault(evaluation *r, int input, int dim, int64_t value);

/* ---- eval_opaque.c ----------------------------------------------------- */

/* Fills out, slice by slice, from an opaque kernel. */
void eval_opaque(evaluation *r, view *out, opaque_fn f);

/* ---- points ------------------------------------------------------------ */

/* Sets the point to the first one in dimensions [from, to) of the space; false
 * if there is none. */
static inline bool eval_first(evaluation *r, int from, int to)
{
	bool some = true;
	for (int v = from; v < to; v++) {
		r->point[v] = r->space->lo[v];
		some &= r->space->lo[v] < r->space->hi[v];
	}
	return some;
}

/* Advances to the next point, the last dimension fastest; false after the
 * last. */
static inline bool eval_next(evaluation *r, int from, int to)
{
	for (int v = to; v-- > from;) {
		if (++r->point[v] < r->space->hi[v])
			return true;
		r->point[v] = r->space->lo[v];
	}
	return false;
}

/* The offset in out of the element at the first n output variables. */
static inline int64_t eval_out_offset(const evaluation *r, const view *out,
				      int n)
{
	int64_t at = 0;
	for (int d = 0; d < n; d++) {
		assert(r->point[d] >= out->at.lo[d] &&
		       r->point[d] < out->at.hi[d]);
		at += (r->point[d] - out->at.lo[d]) * out->stride[d];
	}
	return at;
}

#endif
