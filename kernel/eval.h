/* The interpreter: evaluates a kernel directly, element by element.  It is slow
 * and obviously right; it defines the meaning of an operator, and every fast
 * path is compared with it.
 *
 * Floats are computed in f64; only casts and stores round.  Integers wrap at
 * the width of their type; `/' and `%' round down; division by zero gives 0; a
 * shift by the width or more gives 0, or the sign for a right shift of a signed
 * number.  A cast of a float to an integer type that cannot hold it gives the
 * nearest value of the type; of NaN, 0. min, max, Min, Max, ArgMax and ArgMin
 * treat NaN as NumPy does: the first NaN wins.  `and' and `or' skip their
 * second argument where the first decides.  Functions that only move or
 * reinterpret elements keep all of their bits. */
#ifndef TDL_KERNEL_EVAL_H
#define TDL_KERNEL_EVAL_H

#include "kernel/region.h"

/* A dense or strided view of a part of a tensor in memory.  Element (i0, i1,
 * ..) in the tensor's own coordinates, inside `at`, is at
 * data + sum((i_d - at.lo[d]) * stride[d]) elements. */
typedef struct view {
	void *data;
	dtype type;
	box at;
	int64_t stride[MAX_NDIM];
} view;

/* A row-major view of the part `at` stored densely at data. */
view view_dense(void *data, dtype type, const box *at);

typedef enum eval_status {
	EVAL_OK,
	EVAL_INDEX_OUTSIDE, /* an index is outside its input */
	EVAL_NO_KERNEL,	    /* an opaque kernel without an implementation */
	EVAL_KERNEL_FAILED, /* an opaque function did not return 0 */
} eval_status;

/* The place of EVAL_INDEX_OUTSIDE.  For EVAL_KERNEL_FAILED only value is set:
 * the opaque function's return value. */
typedef struct eval_fault {
	int input, dim;
	int64_t value;
	int64_t position[MAX_NVARS]; /* the iteration point */
} eval_fault;

/* The implementation of an opaque function (include/tdl/kernel.h). */
struct tdl_kernel_call;
typedef int (*opaque_fn)(const struct tdl_kernel_call *);

/* Computes the part `space' of the iteration space into out, which must cover
 * kernel_produces().  Each input must cover kernel_need().  If reduction
 * variables run over a part of their range, the result is partial.  An empty
 * reduction gives the reducer's identity.  On failure *fault has the
 * details. */
eval_status kernel_eval(const kernel *k, const box *space, const view *inputs,
			view *out, opaque_fn opaque, eval_fault *fault);

/* One element of any type as a double or an integer, and back (rounded to
 * nearest even for the small floats). */
double elem_get_f64(dtype t, const void *p, int64_t i);
void elem_set_f64(dtype t, void *p, int64_t i, double v);
int64_t elem_get_i64(dtype t, const void *p, int64_t i);
void elem_set_i64(dtype t, void *p, int64_t i, int64_t v);

/* The least and the greatest finite number of a float type; whether it has
 * infinities. */
double elem_least(dtype t);
double elem_greatest(dtype t);
bool elem_has_infinity(dtype t);

/* Whether 0 is among the numbers of a type, as in all but f8e8m0. */
bool elem_has_zero(dtype t);

/* The number of float type t next to v, which is in t's range: the least one >=
 * v if `above', else the greatest one <= v. */
double elem_beside(dtype t, double v, bool above);

/* Cleans n elements that come from outside: clears the unused upper bits of
 * types of less than 8 bits, and makes each bool 0 or 1. */
void elem_clean(dtype t, void *p, int64_t n);

/* dst[i] = dst[i] (+) src[i] for n elements: combines partial results. */
void reducer_combine(reducer r, dtype t, void *dst, const void *src,
		     int64_t n);

#endif
