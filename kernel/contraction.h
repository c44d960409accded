/* Kernels that are products of matrices, found by their structure: a Sum of the
 * product of two reads.  plan/gemm.h has the calls of a library that compute
 * them. */
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
	uint32_t of_left, of_right; /* the variables of their indices, a bit
				       each */
	uint32_t odd; /* a bit for each variable of an index that is not
			 affine; each such index has one */
} contraction;

/* Whether k is one; its parts are in a.  Every variable of the result is in
 * one of the reads, and one that is summed over is in both, in indices that are
 * affine; those of extent 1 count for nothing.  Casts to a wider float around a
 * read are looked through: nothing is rounded there. */
bool contraction_of(arena *a, const kernel *k, contraction *c);

/* Whether it is one in which each read has a variable of the result that the
 * other has not: a product of matrices, not of vectors. */
bool kernel_multiplies_matrices(const kernel *k);

/* Whether k is a Sum over reads of several inputs: a contraction, or one beside
 * which guards, factors or conversions stand, so that no library computes it.
 * The rules of planners for products of matrices go by it. */
bool kernel_sums_products(const kernel *k);

#endif
