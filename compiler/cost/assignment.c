#include "config.h"

#include "compiler/cost/assignment.h"

#include "compiler/solver/problem.h"

int mesh_factors(int k, int *factors)
{
	int n = 0;
	for (int p = 2; p <= k / p; p++)
		for (; k % p == 0; k /= p)
			factors[n++] = p;
	if (k > 1)
		factors[n++] = k;
	for (int i = 0; i < n / 2; i++) {
		int f = factors[i];
		factors[i] = factors[n - 1 - i];
		factors[n - 1 - i] = f;
	}
	return n;
}

mesh mesh_of_equals(int k)
{
	mesh m = { 0 };
	m.naxes = mesh_factors(k, m.size);
	return m;
}

assignment assignment_undivided(arena *a, const graph *g, const mesh *m)
{
	assignment as = { *m, ARENA_ARRAY(a, cuts, g->ntensors),
			  ARENA_ARRAY(a, cuts, g->nnodes) };
	for (tensor_id t = 0; t < g->ntensors; t++)
		as.tensor_cuts[t] = cuts_none();
	for (node_id n = 0; n < g->nnodes; n++)
		as.node_cuts[n] = cuts_none();
	return as;
}

bool assignment_skips_axis(const cuts *c, const mesh *m)
{
	for (int a = 0; a < m->naxes; a++)
		if (c->dim[a] < 0)
			return true;
	return false;
}

int64_t assignment_tensor_bytes(const tensor_type *t)
{
	int64_t n = (int64_t)dtype_size(t->type);
	for (int d = 0; d < t->ndim; d++)
		n = cost_mul(n, t->dims[d]);
	return n;
}
