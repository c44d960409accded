#include "config.h"

#include "compiler/portfolio/pipeline_costs.h"

#include "base/hash.h"
#include "compiler/lower/stage_graph.h"
#include "compiler/lower/stage_ties.h"

/* ---- classes ----------------------------------------------------------- */

/* The hash of a node's input: of a result of its layer, or of what the layer is
 * given. */
static uint64_t hash_input(const graph *g, tensor_id t, const int *layer,
			   const uint64_t *known, node_id n)
{
	const tensor *x = &g->tensors[t];
	node_id from = x->producer;
	if (from != NONE && layer[from] == layer[n])
		return hash_i64(HASH_SEED, (int64_t)known[from]);
	uint64_t hash = hash_i64(HASH_SEED, -(int64_t)x->kind - 1);
	hash = hash_i64(hash, x->parameter);
	return hash_i64(hash, tensor_nbytes(&x->type));
}

/* Whether a node makes one number from numbers, such as the sum of norms'
 * squares, which are added up over all layers in any order. */
static bool is_of_numbers(const graph *g, const node *x)
{
	bool all = tensor_nelem(&g->tensors[x->output].type) == 1;
	for (int i = 0; i < x->kernel->ninputs && all; i++)
		all = tensor_nelem(&g->tensors[x->inputs[i]].type) == 1;
	return all;
}

/* The hash of a node, independent of the order of its inputs: the terms of a
 * gradient have none. */
static uint64_t hash_node(const graph *g, const int *layer, plan_pass pass,
			  const uint64_t *known, node_id n)
{
	const node *x = &g->nodes[n];
	uint64_t inputs = 0;
	for (int i = 0; i < x->kernel->ninputs; i++)
		inputs += hash_input(g, x->inputs[i], layer, known, n);
	uint64_t h = hash_i64(HASH_SEED, (int64_t)kernel_form_hash(x->kernel));
	return hash_i64(hash_i64(h, pass), (int64_t)inputs);
}

/* By layer: a hash that is equal for layers that do the same, whatever the
 * order of their nodes.  Collisions are unlikely and harmless, as the winner is
 * planned from its own layers. */
static uint64_t *hash_layers(arena *a, const pipeline_layers *l,
			     const int *layer, const plan_pass *pass)
{
	const graph *g = l->g;
	uint64_t *hash = ARENA_ARRAY(a, uint64_t, l->n);
	uint64_t *known = ARENA_ARRAY(a, uint64_t, g->nnodes);
	for (node_id n = 0; n < g->nnodes; n++) {
		if (is_of_numbers(g, &g->nodes[n]))
			continue;
		known[n] = hash_node(g, layer, pass[n], known, n);
		hash[layer[n]] += known[n];
	}
	return hash;
}

static void find_classes(arena *a, arena *tmp, pipeline_costs *c,
			 const uint64_t *hash)
{
	hash_table known = { 0 };
	int *class = ARENA_ARRAY(a, int, c->tied->n);
	int *first = ARENA_ARRAY(tmp, int, c->tied->n);
	for (int i = 0; i < c->tied->n; i++) {
		uint32_t at = 0;
		int found = -1;
		for (int k; found < 0 &&
			    (k = hash_table_next(&known, hash[i], &at)) >= 0;)
			if (hash[first[k]] == hash[i])
				found = k;
		if (found < 0) {
			found = c->nclasses++;
			first[found] = i;
			hash_table_add(tmp, &known, hash[i], found);
		}
		class[i] = found;
	}
	c->class = class;
}

/* A graph of the nodes in the first layer of each class. */
static const graph *sample_of(arena *a, pipeline_costs *c)
{
	const graph *g = c->tied->g;
	stage_division *d = ARENA_COPY(a, &c->division, 1);
	int *stages = ARENA_ARRAY(a, int, g->nnodes);
	bool *seen = ARENA_ARRAY(a, bool, c->nclasses);
	bool *first = c->is_first = ARENA_ARRAY(a, bool, c->tied->n);
	for (int i = 0; i < c->tied->n; i++) {
		first[i] = !seen[c->class[i]];
		seen[c->class[i]] = true;
	}
	for (node_id n = 0; n < g->nnodes; n++)
		stages[n] = !first[c->division.stage[n]];
	d->nstages = 2;
	d->stage = stages;
	stage_homes *h = ARENA_NEW(a, stage_homes);
	*h = stage_homes_of(a, g, d);
	return stage_graph(a, h, 0, ARENA_ARRAY(a, int, g->ntensors));
}

/* The layers of a graph with more nodes, none of which is of a layer. */
static const pipeline_layers *layers_in(arena *a, arena *tmp,
					const pipeline_layers *l,
					const graph *g)
{
	pipeline_layers *to = ARENA_COPY(a, l, 1);
	strmap *old = strmap_new(tmp);
	to->g = g;
	to->layer = ARENA_ARRAY(a, int, g->nnodes);
	to->first = ARENA_ARRAY(a, node_id, l->n + 1);
	for (node_id n = 0; n < l->g->nnodes; n++)
		strmap_put(old, l->g->nodes[n].name, &l->layer[n]);
	for (node_id n = g->nnodes; n-- > 0;) {
		const int *layer = strmap_get(old, g->nodes[n].name);
		to->layer[n] = layer ? *layer : NONE;
		if (to->layer[n] != NONE)
			to->first[to->layer[n]] = n;
	}
	return to;
}

const pipeline_costs *pipeline_costs_new(arena *a, const pipeline_layers *l)
{
	arena *tmp = arena_new();
	pipeline_costs *c = ARENA_NEW(a, pipeline_costs);
	int *all = ARENA_ARRAY(tmp, int, l->n + 1);
	for (int i = 0; i <= l->n; i++)
		all[i] = i;
	const stage_division each = pipeline_layers_divide(tmp, l, l->n, 1,
							   all);
	c->layers = l;
	c->tied = layers_in(a, tmp, l,
			    stage_ties(a, l->g, &each, &c->division));
	find_classes(a, tmp, c, hash_layers(tmp, c->tied, c->division.stage,
					    c->division.pass));
	c->crossings = pipeline_crossings_new(a, c->tied, &c->division);
	c->sample = sample_of(a, c);
	c->nodes = strmap_new(a);
	for (node_id n = 0; n < c->tied->g->nnodes; n++)
		strmap_put(c->nodes, c->tied->g->nodes[n].name,
			   &c->tied->g->nodes[n]);
	arena_free(tmp);
	return c;
}
