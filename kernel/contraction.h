/* Finds kernels that are products of matrices, by their structure: a Sum of the
 * product of two reads. plan/gemm.h has the library calls that compute them. */
#ifndef TDL_KERNEL_CONTRACTION_H
#define TDL_KERNEL_CONTRACTION_H

#include "kernel/index_interval.h"

/* One of the two reads. */
typedef struct factor {
	int input;
	dtype type;
	int ndim;
	lin at[MAX_NDIM];
} factor;

typedef struct contraction {
	factor left, right;
	/* the variables of their indices, a bit each */
	uint32_t of_left, of_right;
	/* the variables of indices that are not affine, a bit each; each such
	 * index has one variable */
	uint32_t odd;
} contraction;

/* Whether k is a contraction; the parts of *c are in a.  Every variable of the
 * result is in one of the reads, and every variable summed over is in both, in
 * affine indices.  Variables of extent 1 are ignored.  Casts of a read to a
 * wider float are ignored: they do not round. */
bool contraction_of(arena *a, const kernel *k, contraction *c);

/* Whether k is a contraction in which each read has a variable of the result
 * that the other lacks: a product of matrices, not of vectors. */
bool kernel_multiplies_matrices(const kernel *k);

/* Whether a kernel is a copy that only changes the order of elements: it reads
 * as many as its input has, at sums of variables. */
bool kernel_is_reordering(const kernel *k);

/* Products of matrices with at least so many rows, columns and terms pack their
 * factors. */
enum { PACKED_LEAST = 4 };

/* Whether k is such a product, and reads the copy `slot', a factor, as well
 * where it was copied from: there, too, memory runs along the last of the
 * factor's own variables, or of those summed over. */
bool contraction_reads_through(const kernel *k, int slot, const kernel *copy);

/* Whether k is a Sum over reads of several inputs: a contraction, or one with
 * guards, further factors or conversions, which no library computes.  The
 * planners' rules for products of matrices use this. */
bool kernel_sums_products(const kernel *k);

#endif
