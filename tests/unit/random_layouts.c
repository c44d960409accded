#include "config.h"

#include "tests/unit/random_layouts.h"

#include "tests/unit/stay_partial.h"

rng rng_new(uint64_t seed)
{
	return (rng){ seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du };
}

int rng_below(rng *r, int n)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return (int)((r->state * 0x2545f4914f6cdd1du >> 33) % (uint64_t)n);
}

static cuts random_cuts(rng *r, const mesh *m, int n, const int64_t *extents,
			uint32_t allowed)
{
	cuts c = cuts_none();
	for (int a = 0; a < m->naxes; a++) {
		int d = rng_below(r, n + 1);
		if (d == n || !(allowed >> d & 1))
			continue;
		c.dim[a] = (signed char)d;
		if (cuts_smallest(extents[d], m, &c, m->naxes, d) < 1)
			c.dim[a] = CUT_NONE;
	}
	return c;
}

assignment random_assignment_on(arena *a, rng *r, const graph *g,
				const mesh *m)
{
	assignment as = { *m, ARENA_ARRAY(a, cuts, g->ntensors),
			  ARENA_ARRAY(a, cuts, g->nnodes) };
	for (int t = 0; t < g->ntensors; t++)
		as.tensor_cuts[t] = random_cuts(r, m, g->tensors[t].type.ndim,
						g->tensors[t].type.dims, ~0u);
	for (int n = 0; n < g->nnodes; n++) {
		const kernel *k = g->nodes[n].kernel;
		int64_t extents[MAX_NVARS];
		for (int v = 0; v < k->nvars; v++)
			extents[v] = k->vars[v].extent;
		as.node_cuts[n] = random_cuts(r, m, k->nvars, extents, ~0u);
	}
	for (int t = 0; t < g->ntensors; t++)
		if (g->tensors[t].next != NONE)
			as.tensor_cuts[g->tensors[t].next] = as.tensor_cuts[t];
	stay_partial(a, r->state, g, &as);
	return as;
}

assignment random_assignment(arena *a, rng *r, const graph *g)
{
	static const mesh meshes[] = {
		{ 0, { 0 } },	       { 1, { 2 } },	{ 1, { 3 } },
		{ 2, { 2, 2 } },       { 2, { 3, 2 } }, { 1, { 5 } },
		{ 3, { 2, 2, 2 } },    { 2, { 2, 3 } }, { 3, { 3, 2, 2 } },
	};
	const mesh *m = &meshes[rng_below(r, sizeof(meshes) / sizeof(*m))];
	return random_assignment_on(a, r, g, m);
}
