/* The costs of PaSE (Elango, IPDPS'21, section II; its code, nn_ops.py), for
 * any kernel.
 *
 * A configuration is the number of parts into which each variable of a kernel
 * is divided.  Costs are FLOPs of one device: a layer's own, plus r for each
 * element that it receives.  As in PaSE, a multiplication and an addition count
 * as one, and r is for a word of 8 bytes per element. */
#ifndef TDL_COMPILER_PLANNERS_PASE_COST_H
#define TDL_COMPILER_PLANNERS_PASE_COST_H

#include "compiler/solver/problem.h"
#include "kernel/region.h"

/* Parts per variable; 1 if it is not divided. */
typedef struct counts {
	short of[MAX_NVARS];
} counts;

counts counts_ones(void);
/* The number of devices that have a part of their own. */
int64_t counts_product(const kernel *k, const counts *c);

/* t_l, the FLOPs of one device, three times for a contraction: its own and
 * those of the gradients of two operands.  Added to these are the all-reduces
 * of float tensors that are sums of parts on several devices: the result, and
 * the gradients of the inputs except those in the mask `without'. */
double pase_layer(const kernel *k, const counts *c, uint32_t without);

/* The gradient of an input as a sum of q parts, on q devices. */
typedef struct pase_sum {
	int ndim;
	double extent[MAX_NDIM]; /* of a part */
	double q;
} pase_sum;

pase_sum pase_gradient(const kernel *k, const counts *c, int input);
bool pase_sum_equal(const pase_sum *x, const pase_sum *y);
/* The cost of an all-reduce of its parts, rounded. */
int64_t pase_sum_cost(const pase_sum *s);

/* A cost rounded to an integer, at most COST_MAX. */
int64_t pase_rounded(double cost);

/* The extents of the region of an input that one device, in the middle of the
 * iteration space, reads through all inputs of the mask. */
void pase_reads(const kernel *k, const counts *c, uint32_t inputs,
		double *extent);
/* The same for the region of the result that it computes. */
void pase_holds(const kernel *k, const counts *c, double *extent);

/* t_x times r: the elements that a device of the reader reads and does not
 * hold, forwards and backwards.  If there are more readers than holders, some
 * devices hold nothing. */
double pase_transfer(int ndim, const double *reads, int64_t readers,
		     const double *holds, int64_t holders);

#endif
