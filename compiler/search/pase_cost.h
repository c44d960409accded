/* The costs of PaSE (Elango, IPDPS'21, section II; its code, nn_ops.py), for
 * any kernel.
 *
 * A configuration says into how many parts each variable of a kernel is
 * divided.  Costs are FLOPs of one device: a layer's own, and r of them for
 * each element that it receives.  A multiplication and addition counts as one,
 * and so does in r a word of 8 bytes per element, as in PaSE. */
#ifndef TDL_COMPILER_SEARCH_PASE_COST_H
#define TDL_COMPILER_SEARCH_PASE_COST_H

#include "compiler/search/problem.h"
#include "plan/region.h"

/* Parts per variable; 1 where it is not divided. */
typedef struct counts {
	short of[MAX_NVARS];
} counts;

counts counts_ones(void);
/* How many devices have a part of their own. */
int64_t counts_product(const kernel *k, const counts *c);

/* t_l: what a device computes, 3 times where it is a contraction (its own and
 * the gradients of two operands); and an all-reduce of each float tensor that
 * is, or has a gradient that is, a sum of the parts of several devices, but not
 * of the gradients of the inputs in the mask. */
double pase_layer(const kernel *k, const counts *c, uint32_t without);

/* The gradient of an input as a sum of q parts, on as many devices. */
typedef struct pase_sum {
	int ndim;
	double extent[MAX_NDIM]; /* of a part */
	double q;
} pase_sum;

pase_sum pase_gradient(const kernel *k, const counts *c, int input);
bool pase_sum_equal(const pase_sum *x, const pase_sum *y);
/* Of an all-reduce of its parts, rounded. */
int64_t pase_sum_cost(const pase_sum *s);

/* A cost as a whole number, COST_MAX at most. */
int64_t pase_rounded(double cost);

/* The extents of what one device reads of an input, through all inputs of the
 * mask, in the middle of what all read. */
void pase_reads(const kernel *k, const counts *c, uint32_t inputs,
		double *extent);
/* The same of what it computes. */
void pase_holds(const kernel *k, const counts *c, double *extent);

/* t_x times r: what a device of the reader lacks of what it reads, forwards and
 * backwards.  It holds nothing where more devices read than compute. */
double pase_transfer(int ndim, const double *reads, int64_t readers,
		     const double *holds, int64_t holders);

#endif
