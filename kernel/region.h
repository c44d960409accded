/* Regions of tensors: the part of an input that a part of the iteration space
 * reads.
 *
 * Everything here is exact integer arithmetic on half-open boxes.  After Tofu
 * (Wang et al., EuroSys'19) section 4.2, made sound: bounds swap under a
 * negative factor; guards and conditions narrow. */
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
/* The smallest box that contains both; an empty box adds nothing. */
box box_hull(const box *a, const box *b);
/* |a \ b| */
int64_t box_volume_less(const box *a, const box *b);
/* The number of elements of inner, which is inside outer, that are among the
 * first n elements of outer in row-major order. */
int64_t box_count_before(const box *outer, const box *inner, int64_t n);

/* The whole iteration space of a kernel: every variable over its own extent,
 * even if one of them is 0. */
box kernel_space(const kernel *k);

/* For a part of the iteration space, the bounding box of the reads of each
 * input, clipped to the input: needs[0..ninputs).  Empty for an input that is
 * not read. */
void kernel_needs(const kernel *k, const box *space, box *needs);
/* The same for one input. */
box kernel_need(const kernel *k, const box *space, int input);

/* For each dimension of an input, the variables (a bit each) that determine its
 * interval in kernel_need(), if neither a variable's range nor the box is
 * empty: vars[0..ndim).  A superset is possible. */
void kernel_need_vars(const kernel *k, int input, uint32_t *vars);

/* The interval of a dimension of an input in kernel_need(), if no variable's
 * range is empty: that of the variable with this number, or one of these. */
enum {
	NEED_ALL = -1,	 /* the whole dimension */
	NEED_OTHER = -2, /* an interval not known here */
};

/* The same for each dimension of an input: spans[0..ndim). */
void kernel_need_spans(const kernel *k, int input, int *spans);

/* A read without a guard that is not provably inside its input. */
typedef struct outside {
	/* the expression in the kernel's body; for a slice, one without indices
	 * that names its input */
	const kexpr *read;
	int dim;
	int64_t size;	   /* of the input's dimension */
	bool known;	   /* lo and hi are known: intervals follow the index */
	int64_t lo, hi;	   /* the index takes values in [lo, hi) */
} outside;

/* Whether the kernel has such a read anywhere in its iteration space; *o
 * describes the first.  Data-dependent indices, which are checked at run time,
 * and reads that no point of the space makes do not count. */
bool kernel_reads_outside(const kernel *k, outside *o);

/* The part of the result that a part of the iteration space computes. */
box kernel_produces(const kernel *k, const box *space);

/* Whether a non-empty part of the result, given by its part of the iteration
 * space, is known to equal an input at the same indices: in a concatenation,
 * the part that comes from its first tensor. */
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
