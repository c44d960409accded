#include "config.h"

#include "compiler/planners/pase_cost.h"

#include "compiler/cost/byte_model.h"
#include "kernel/contraction.h"

/* FLOPs that take as long as receiving one element (PaSE's r): a device
 * computes 10 TFLOP/s, a link moves 16 GB/s, an element has 8 bytes. */
static const double flops_per_element = 10e12 / (16e9 / 8);

counts counts_ones(void)
{
	counts c;
	for (int v = 0; v < MAX_NVARS; v++)
		c.of[v] = 1;
	return c;
}

int64_t counts_product(const kernel *k, const counts *c)
{
	int64_t n = 1;
	for (int v = 0; v < k->nvars; v++)
		n *= c->of[v];
	return n;
}

/* The size of the largest part of an extent. */
static int64_t part(const kernel *k, const counts *c, int v)
{
	return (k->vars[v].extent + c->of[v] - 1) / c->of[v];
}

static double points(const kernel *k, const counts *c)
{
	double n = 1;
	for (int v = 0; v < k->nvars; v++)
		n *= k->vars[v].kind == KVAR_DERIVED ? 1
						     : (double)part(k, c, v);
	return n;
}

/* FLOPs per iteration point.  One operation of each element of a sum is the
 * addition of the sum itself. */
static double flops_per_point(const kernel *k)
{
	int64_t n = kernel_flops_per_point(k) - (k->reducer != RED_NONE);
	return (n > 0 ? (double)n : 0) * (kernel_sums_products(k) ? 3 : 1);
}

/* The cost of an all-reduce of q parts of n elements each, on q devices. */
static double all_reduce(double n, double q)
{
	return q > 1 ? flops_per_element * 2 * (q - 1) * n / q : 0;
}

static double volume(const double *extent, int ndim)
{
	double n = 1;
	for (int d = 0; d < ndim; d++)
		n *= extent[d];
	return n;
}

/* A device's part of the iteration space, taken from the middle. */
static box middle(const kernel *k, const counts *c)
{
	box space = kernel_space(k);
	for (int v = 0; v < k->nvars; v++) {
		int64_t n = k->vars[v].extent, size = part(k, c, v);
		int64_t lo = c->of[v] / 2 * n / c->of[v];
		space.lo[v] = lo + size <= n ? lo : n - size;
		space.hi[v] = space.lo[v] + size;
	}
	return space;
}

void pase_reads(const kernel *k, const counts *c, uint32_t inputs,
		double *extent)
{
	box space = middle(k, c), need = layout_needs(k, &space, inputs);
	for (int d = 0; d < need.n; d++)
		extent[d] = (double)(need.hi[d] - need.lo[d]);
}

void pase_holds(const kernel *k, const counts *c, double *extent)
{
	for (int d = 0; d < k->nout; d++)
		extent[d] = (double)part(k, c, d);
}

/* The number of parts q is the number of times that all devices together read
 * the input. */
pase_sum pase_gradient(const kernel *k, const counts *c, int input)
{
	const counts whole = counts_ones();
	uint32_t mask = UINT32_C(1) << input;
	double all[MAX_NDIM];
	pase_sum s = { .ndim = k->inputs[input].ndim };
	pase_reads(k, c, mask, s.extent);
	pase_reads(k, &whole, mask, all);
	double n = volume(s.extent, s.ndim), of = volume(all, s.ndim);
	if (n > 0 && of > 0)
		s.q = (double)counts_product(k, c) * n / of;
	return s;
}

bool pase_sum_equal(const pase_sum *x, const pase_sum *y)
{
	bool equal = x->ndim == y->ndim && x->q == y->q;
	for (int d = 0; equal && d < x->ndim; d++)
		equal = x->extent[d] == y->extent[d];
	return equal;
}

static double sum_cost(const pase_sum *s)
{
	return all_reduce(volume(s->extent, s->ndim), s->q);
}

int64_t pase_sum_cost(const pase_sum *s)
{
	return pase_rounded(sum_cost(s));
}

int64_t pase_rounded(double cost)
{
	return cost < (double)COST_MAX ? (int64_t)(cost + 0.5) : COST_MAX;
}

static double output_sum(const kernel *k, const counts *c)
{
	double extent[MAX_NVARS], q = 1;
	pase_holds(k, c, extent);
	for (int v = k->nout; v < k->nvars; v++)
		q *= c->of[v];
	return all_reduce(volume(extent, k->nout), q);
}

double pase_layer(const kernel *k, const counts *c, uint32_t without)
{
	double sum = points(k, c) * flops_per_point(k) + output_sum(k, c);
	for (int i = 0; i < k->ninputs; i++) {
		if (without >> i & 1 || !dtype_is_float(k->inputs[i].type))
			continue;
		const pase_sum s = pase_gradient(k, c, i);
		sum += sum_cost(&s);
	}
	return sum;
}

double pase_transfer(int ndim, const double *reads, int64_t readers,
		     const double *holds, int64_t holders)
{
	double has = readers <= holders, needs = 1;
	for (int d = 0; d < ndim; d++) {
		needs *= reads[d];
		has *= reads[d] < holds[d] ? reads[d] : holds[d];
	}
	return needs > has ? 2 * flops_per_element * (needs - has) : 0;
}
