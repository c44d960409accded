/* Regions of tensors: the part of an input that a part of the iteration space
 * reads.
 *
 * Everything here is exact integer arithmetic on half-open boxes. Source:
 * Tofu (EuroSys'19) section 4.2, made sound: bounds swap under a negative
 * factor, guards and conditions narrow. */
#ifndef TDL_KERNEL_REGION_H
#define TDL_KERNEL_REGION_H

#include "kernel/kernel.h"

/* [lo, hi) per dimension.  An empty box has lo == hi == 0 in all dimensions;
 * a box of no dimensions holds one element. */
typedef struct box {
	int n;
	int64_t lo[MAX_NVARS], hi[MAX_NVARS];
} box;

box box_whole(const int64_t *dims, int n);
box box_empty(int n);
bool box_is_empty(const box *b);
bool box_equal(const box *a, const box *b);
bool box_contains(const box *outer, const box *inner);
int64_t box_volume(const box *b);
box box_intersect(const box *a, const box *b);
/* The smallest box around both; an empty one adds nothing. */
box box_hull(const box *a, const box *b);
/* |a \ b| */
int64_t box_volume_less(const box *a, const box *b);
/* The number of elements of inner, a box inside outer, among the first n of
 * outer in row-major order. */
int64_t box_count_before(const box *outer, const box *inner, int64_t n);

/* The iteration space of a kernel, whole: every variable has its own extent,
 * where one of them is 0 too. */
box kernel_space(const kernel *k);

/* For a part of the iteration space, the bounding box of the reads of each
 * input, clipped to the input: needs[0..ninputs).  An input that is not read
 * gives an empty box. */
void kernel_needs(const kernel *k, const box *space, box *needs);
/* The same for one input. */
box kernel_need(const kernel *k, const box *space, int input);

/* The variables, a bit each, that the interval of each dimension of an input in
 * kernel_need() follows from, as long as no variable's range is empty and
 * neither is the box: vars[0..ndim).  There may be more than needed. */
void kernel_need_vars(const kernel *k, int input, uint32_t *vars);

/* In a dimension of an input kernel_need() gives, as long as no variable's
 * range is empty: */
enum {
	NEED_ALL = -1,	 /* all of it, */
	NEED_OTHER = -2, /* something else, that is not known here, */
}; /* or, where it is 0 or more, the range of that variable. */

/* The same for each dimension of an input: spans[0..ndim). */
void kernel_need_spans(const kernel *k, int input, int *spans);

/* A read without a guard that is not provably inside its input. */
typedef struct outside {
	const kexpr *read; /* the expression in the kernel's body; for a slice
			      one without indices, for its input */
	int dim;
	int64_t size;	   /* of the input's dimension */
	bool known;	   /* whether lo and hi are known; else intervals do not
			      follow the index */
	int64_t lo, hi;	   /* the index takes values in [lo, hi) */
} outside;

/* Whether there is such a read anywhere in the kernel's iteration space; *o
 * tells the first.  Data-dependent indices are checked in the run and do not
 * count, nor does a read that no point of the space makes. */
bool kernel_reads_outside(const kernel *k, outside *o);

/* The part of the result that a part of the iteration space computes. */
box kernel_produces(const kernel *k, const box *space);

/* Whether a part of the result, that of a part of the iteration space which has
 * a point, is known to be an input at the same places: in a concatenation,
 * where the part is that of its first tensor. */
bool kernel_copies(arena *a, const kernel *k, const box *space, int input);

/* Block p of k of [lo, hi): [lo + p*n/k, lo + (p+1)*n/k), n = hi - lo. */
static inline void block(int64_t lo, int64_t hi, int p, int k, int64_t *blo,
			 int64_t *bhi)
{
	int64_t n = hi - lo;
	if (n <= INT32_MAX) {
		*blo = lo + p * n / k;
		*bhi = lo + (p + 1) * n / k;
		return;
	}
	*blo = lo + (int64_t)((__int128)p * n / k);
	*bhi = lo + (int64_t)((__int128)(p + 1) * n / k);
}

#endif
