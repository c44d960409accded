#include "config.h"

#include "compiler/cost/aligned_dims.h"

#include "layout/mesh.h"

/* The lower end of part p of n parts of an extent. */
static int64_t edge(int64_t extent, int64_t n, int64_t p)
{
	return (int64_t)((__int128)p * extent / n);
}

/* The region of an input that part p of n of variable v reads. */
static box part_of(const kernel *k, int v, int input, int64_t n, int64_t p)
{
	box space = kernel_space(k);
	space.lo[v] = edge(k->vars[v].extent, n, p);
	space.hi[v] = edge(k->vars[v].extent, n, p + 1);
	return kernel_need(k, &space, input);
}

/* Whether part p of n of variable v reads only part p of dimension d. */
static bool reads_part(const kernel *k, int v, int input, int d, int64_t n,
		       int64_t p)
{
	int64_t has = k->inputs[input].dims[d];
	box need = part_of(k, v, input, n, p);
	return !box_is_empty(&need) && need.lo[d] >= edge(has, n, p) &&
	       need.hi[d] <= edge(has, n, p + 1);
}

bool var_follows_dim(const kernel *k, int v, int input, int d, int64_t n)
{
	const int64_t parts[] = { 0, 1, 2, n / 2, n - 2, n - 1 };
	if (k->vars[v].extent < n)
		return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i] >= 0 && parts[i] < n &&
		    !reads_part(k, v, input, d, n, parts[i]))
			return false;
	return true;
}

int aligned_dim(const kernel *k, int v, int input, int64_t n)
{
	const kinput *in = &k->inputs[input];
	for (int d = 0; d < in->ndim; d++)
		if (in->dims[d] >= n && var_follows_dim(k, v, input, d, n))
			return d;
	return CUT_NONE;
}

bool var_reads_all(const kernel *k, int v, int input, int64_t n)
{
	box space = kernel_space(k), all = kernel_need(k, &space, input);
	box first = part_of(k, v, input, n, 0);
	box last = part_of(k, v, input, n, n - 1);
	return box_equal(&first, &all) && box_equal(&last, &all);
}
