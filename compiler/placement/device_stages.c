#include "config.h"

#include "compiler/placement/device_stages.h"

#include <stdlib.h>

#include "base/hash.h"

typedef struct started {
	int64_t begin;
	node_id n;
} started;

static int by_begin(const void *x, const void *y)
{
	const started *a = x, *b = y;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return (a->n > b->n) - (a->n < b->n);
}

/* By node: its operator.  Operators without a step are for what is fed. */
static int *find_operators(arena *tmp, const graph *g, const cost_graph *costs)
{
	strmap *names = strmap_new(tmp);
	int *op = ARENA_ARRAY(tmp, int, g->nnodes);
	int *number = ARENA_ARRAY(tmp, int, costs->nops);
	for (int v = 0; v < costs->nops; v++) {
		number[v] = v;
		if (costs->ops[v].step > 0)
			strmap_put(names, costs->ops[v].name, &number[v]);
	}
	for (node_id n = 0; n < g->nnodes; n++)
		op[n] = *(const int *)strmap_get(names, g->nodes[n].name);
	return op;
}

/* Finds the instants from which nodes run.  A node without time may not precede
 * the nodes that it reads. */
static started *find_starts(arena *tmp, const graph *g, const int *op,
			    const verdict *v)
{
	started *all = ARENA_ARRAY(tmp, started, g->nnodes);
	for (node_id n = 0; n < g->nnodes; n++)
		all[n] = (started){ v->begin[op[n]], n };
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++) {
			tensor_id t = g->nodes[n].inputs[i];
			node_id from = g->tensors[t].producer;
			if (from != NONE && all[from].begin > all[n].begin)
				all[n].begin = all[from].begin;
		}
	return all;
}

/* The graph with its nodes in another order; number[n] is the new number of
 * node n. */
static graph *renumbered(arena *a, const graph *g, const node_id *number)
{
	graph *to = ARENA_COPY(a, g, 1);
	to->nodes = ARENA_ARRAY(a, node, g->nnodes);
	to->tensors = ARENA_COPY(a, g->tensors, g->ntensors);
	for (node_id n = 0; n < g->nnodes; n++) {
		node *x = &to->nodes[number[n]];
		*x = g->nodes[n];
		if (x->forward != NONE)
			x->forward = number[x->forward];
		to->tensors[x->output].producer = number[n];
	}
	return to;
}

/* Numbers the devices that have a node as stages.  By device: its stage; -1. */
static int *find_stages(arena *a, arena *tmp, const graph *g, const int *op,
			const int *place, device_stages *to)
{
	int most = 0, *device;
	for (node_id n = 0; n < g->nnodes; n++)
		most = place[op[n]] > most ? place[op[n]] : most;
	int *nth = ARENA_ARRAY(tmp, int, most + 1);
	for (node_id n = 0; n < g->nnodes; n++)
		nth[place[op[n]]] = 1;
	to->device = device = ARENA_ARRAY(a, int, most + 1);
	for (int d = 0; d <= most; d++) {
		if (nth[d])
			device[to->division.nstages] = d;
		nth[d] = nth[d] ? to->division.nstages++ : -1;
	}
	return nth;
}

device_stages device_stages_of(arena *a, const graph *g,
			       const cost_graph *costs, const int *place,
			       const verdict *v)
{
	arena *tmp = arena_new();
	device_stages to = { .division = { .nchunks = 1 } };
	const int *op = find_operators(tmp, g, costs);
	started *all = find_starts(tmp, g, op, v);
	const int *nth = find_stages(a, tmp, g, op, place, &to);
	node_id *number = ARENA_ARRAY(tmp, node_id, g->nnodes);
	int *stages = ARENA_ARRAY(a, int, g->nnodes);
	qsort(all, (size_t)g->nnodes, sizeof(*all), by_begin);
	for (int i = 0; i < g->nnodes; i++) {
		number[all[i].n] = i;
		stages[i] = nth[place[op[all[i].n]]];
	}
	to.g = graph_once(a, renumbered(a, g, number));
	to.division.stage = stages;
	to.division.chunk = ARENA_ARRAY(a, int, g->nnodes);
	to.division.pass = ARENA_ARRAY(a, plan_pass, g->nnodes);
	arena_free(tmp);
	return to;
}
