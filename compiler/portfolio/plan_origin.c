#include "config.h"

#include "compiler/portfolio/plan_origin.h"

#include <string.h>

#include "base/hash.h"

/* The index in the graph of a name; NONE if it is not there. */
static int find_name(const hash_table *by, const char *const *names,
		     const char *name)
{
	uint32_t at = 0;
	uint64_t hash = hash_str(HASH_SEED, name);
	for (int i; (i = hash_table_next(by, hash, &at)) >= 0;)
		if (!strcmp(names[i], name))
			return i;
	return NONE;
}

static hash_table by_name(arena *tmp, const char *const *names, int n)
{
	hash_table by = { 0 };
	for (int i = 0; i < n; i++)
		hash_table_add(tmp, &by, hash_str(HASH_SEED, names[i]), i);
	return by;
}

static void find_tensors(arena *tmp, const plan *p, const graph *g,
			 tensor_id *to)
{
	const char **names = ARENA_ARRAY(tmp, const char *, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++)
		names[t] = g->tensors[t].name;
	hash_table by = by_name(tmp, names, g->ntensors);
	for (int t = 0; t < p->ntensors; t++)
		to[t] = find_name(&by, names, p->tensors[t].name);
}

static void find_nodes(arena *tmp, const plan *p, const graph *g, node_id *to)
{
	const char **names = ARENA_ARRAY(tmp, const char *, g->nnodes);
	for (node_id n = 0; n < g->nnodes; n++)
		names[n] = g->nodes[n].name;
	hash_table by = by_name(tmp, names, g->nnodes);
	for (int n = 0; n < p->nnodes; n++)
		to[n] = find_name(&by, names, p->nodes[n].name);
}

/* Finds the parts of a sum over turns; the graph does not have the tensor that
 * the sum reads. */
static void find_parts(const plan *p, tensor_id *to)
{
	for (int i = p->nnodes; i-- > 0;) {
		const plan_node *n = &p->nodes[i];
		int ninputs = p->kernels[n->kernel].kernel->ninputs;
		for (int k = 0; k < ninputs; k++)
			if (to[n->inputs[k]] == NONE)
				to[n->inputs[k]] = to[n->output];
	}
}

plan_origin plan_origin_of(arena *a, const plan *p, const graph *g)
{
	arena *tmp = arena_new();
	plan_origin x = { ARENA_ARRAY(a, tensor_id, p->ntensors),
			  ARENA_ARRAY(a, node_id, p->nnodes) };
	find_tensors(tmp, p, g, x.tensors);
	find_nodes(tmp, p, g, x.nodes);
	find_parts(p, x.tensors);
	arena_free(tmp);
	return x;
}
