#include "config.h"

#include "compiler/portfolio/pipeline_known.h"

#include <string.h>

#include "compiler/graph/turns.h"

static bool same_tensor(const tensor *x, const tensor *y)
{
	return x->kind == y->kind && x->output == y->output &&
	       x->parameter == y->parameter && x->producer == y->producer &&
	       x->next == y->next && x->batch == y->batch &&
	       x->gradient_of == y->gradient_of &&
	       x->type.type == y->type.type && x->type.ndim == y->type.ndim &&
	       !memcmp(x->type.dims, y->type.dims,
		       (size_t)x->type.ndim * sizeof(*x->type.dims));
}

/* Whether two graphs, which share kernels, are equal except for names and
 * elements. */
static bool same_graph(const graph *x, const graph *y)
{
	const graph_turns *t = x->turns, *u = y->turns;
	if (x->nnodes != y->nnodes || x->ntensors != y->ntensors ||
	    x->loss != y->loss || x->learning_rate != y->learning_rate ||
	    x->loss_scale != y->loss_scale)
		return false;
	for (tensor_id i = 0; i < x->ntensors; i++)
		if (!same_tensor(&x->tensors[i], &y->tensors[i]) ||
		    t->cut[i] != u->cut[i] || t->total[i] != u->total[i] ||
		    t->partial[i] != u->partial[i])
			return false;
	for (node_id i = 0; i < x->nnodes; i++) {
		const node *m = &x->nodes[i], *n = &y->nodes[i];
		if (m->kernel != n->kernel || m->output != n->output ||
		    m->forward != n->forward ||
		    t->divided[i] != u->divided[i] ||
		    t->sections[i] != u->sections[i] ||
		    memcmp(m->inputs, n->inputs,
			   (size_t)m->kernel->ninputs * sizeof(*m->inputs)))
			return false;
	}
	return true;
}

/* Whether equal graphs have the same tensors and nodes of the divided one. */
static bool same_names(const graph *x, const graph *y)
{
	for (tensor_id i = 0; i < x->ntensors; i++)
		if (strcmp(x->tensors[i].name, y->tensors[i].name) != 0)
			return false;
	for (node_id i = 0; i < x->nnodes; i++)
		if (strcmp(x->nodes[i].name, y->nodes[i].name) != 0)
			return false;
	return true;
}

static uint64_t hash_of(const graph *g, const pipeline_way *way)
{
	uint64_t h = hash_i64(HASH_SEED, way->devices);
	h = hash_i64(h, way->replicas);
	h = hash_i64(h, g->ntensors);
	for (node_id n = 0; n < g->nnodes; n++)
		h = hash_i64(h, (int64_t)(intptr_t)g->nodes[n].kernel);
	return h;
}

known_stage *pipeline_known(arena *a, known_stages *k, const graph *g,
			    const pipeline_way *way)
{
	uint64_t hash = hash_of(g, way);
	uint32_t at = 0;
	const search_result *search = NULL;
	for (int i; (i = hash_table_next(&k->by_graph, hash, &at)) >= 0;) {
		known_stage *x = k->all.at[i];
		if (!pipeline_way_equal(&x->way, way) ||
		    !same_graph(x->graph, g))
			continue;
		if (same_names(x->graph, g))
			return x;
		search = x->search;
	}
	known_stage *made = ARENA_NEW(a, known_stage);
	*made = (known_stage){ .graph = g, .way = *way, .search = search };
	hash_table_add(a, &k->by_graph, hash, k->all.n);
	vec_push(a, &k->all, made);
	return made;
}
