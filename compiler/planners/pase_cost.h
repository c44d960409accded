/* The costs of PaSE (Elango, IPDPS'21, section II; its code, nn_ops.py), for
 * any kernel.
 *
 * A configuration says into how many parts each variable of a kernel is
 * divided.  Costs are FLOPs of one device: a layer's own, and r of them for
 * each element that it receives.  A multiplication and addition counts as one,
 * and so does in r a word of 8 bytes per element, as in PaSE. */
#ifndef TDL_COMPILER_PLANNERS_PASE_COST_H
#define TDL_COMPILER_PLANNERS_PASE_COST_H

#include "compiler/solver/problem.h"
#include "kernel/region.h"

/* Parts per variable; 1 where it is not divided. */
typedef struct counts {
	short of[MAX_NVARS];
} counts;

counts counts_ones(void);
/* The number of devices that have a part of their own. */
int64_t counts_product(const kernel *k, const counts *c);

/* t_l, the FLOPs of one device, three times where the kernel is a contraction:
 * its own and those of the gradients of two operands.  To these are added the
 * all-reduces of float tensors that are sums of parts of several devices: the
 * result, and the gradients of the inputs, except inputs in the mask
 * `without'. */
double pase_layer(const kernel *k, const counts *c, uint32_t without);

/* The gradient of an input as a sum of q parts, on as many devices. */
typedef struct pase_sum {
	int ndim;
	double extent[MAX_NDIM]; /* of a part */
	double q;
} pase_sum;

pase_sum pase_gradient(const kernel *k, const counts *c, int input);
bool pase_sum_equal(const pase_sum *x, const pase_sum *y);
/* The cost of an all-reduce of its parts, rounded. */
int64_t pase_sum_cost(const pase_sum *s);

/* A cost as a whole number, COST_MAX at most. */
int64_t pase_rounded(double cost);

/* The extents of the region that one device reads of an input, through all
 * inputs of the mask; of a device in the middle of the iteration space. */
void pase_reads(const kernel *k, const counts *c, uint32_t inputs,
		double *extent);
/* The same of the region that it computes. */
void pase_holds(const kernel *k, const counts *c, double *extent);

/* t_x times r: the elements that a device of the reader reads and does not
 * hold, forwards and backwards.  With more readers than holders some devices
 * hold nothing. */
double pase_transfer(int ndim, const double *reads, int64_t readers,
		     const double *holds, int64_t holders);

#endif
