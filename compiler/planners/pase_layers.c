#include "config.h"

#include "compiler/planners/pase_layers.h"

#include <string.h>

#include "compiler/analysis/strategy.h"
#include "compiler/cost/byte_model.h"
#include "compiler/planners/pase_weights.h"

/* ---- configurations ---------------------------------------------------- */

typedef struct lister {
	arena *arena;
	const kernel *kernel;
	const layer_limits *limits;
	int64_t least; /* least elements of a part */
	counts now;
	VEC(counts) all;
} lister;

static bool may_count(const lister *l, int v, int n)
{
	int64_t extent = l->kernel->vars[v].extent;
	if (n == 1)
		return true;
	if (extent / n < l->least || !strategy_offered(l->kernel, v, NULL))
		return false;
	return l->limits->devices % n == 0 ||
	       (!l->limits->mesh && extent % n == 0);
}

/* Whether partial results over all divided variables would be combined by one
 * reducer. */
static bool reducers_agree(const lister *l, int v)
{
	reducer r = strategy_reducer(l->kernel, v);
	for (int u = 0; u < v; u++) {
		reducer other = strategy_reducer(l->kernel, u);
		if (l->now.of[u] > 1 && other && r && other != r)
			return false;
	}
	return true;
}

/* Adds all configurations that extend `now', set for the variables before v,
 * with `left' devices to distribute. */
static void list(lister *l, int v, int left)
{
	if (v == l->kernel->nvars) {
		vec_push(l->arena, &l->all, l->now);
		return;
	}
	for (int n = 1; n <= left && l->all.n <= l->limits->most; n++) {
		if (!may_count(l, v, n) || (l->limits->mesh && left % n) ||
		    (n > 1 && !reducers_agree(l, v)))
			continue;
		l->now.of[v] = (short)n;
		list(l, v + 1, left / n);
	}
	l->now.of[v] = 1;
}

static const pase_configs *layer_of(arena *a, const kernel *k, uint32_t without,
				    const layer_limits *limits)
{
	lister l = { .arena = a, .kernel = k, .limits = limits, .least = 1,
		     .now = counts_ones() };
	for (;; l.least *= 2) {
		l.all.n = 0;
		list(&l, 0, limits->devices);
		if (l.all.n <= limits->most)
			break;
	}
	pase_configs *of = ARENA_NEW(a, pase_configs);
	*of = (pase_configs){ k, without, l.all.n, l.all.at,
			      ARENA_ARRAY(a, int64_t, l.all.n), l.least == 1 };
	for (int i = 0; i < of->n; i++)
		of->cost[i] = pase_rounded(pase_layer(k, &of->at[i], without));
	return of;
}

/* ---- tables ------------------------------------------------------------ */

/* The cost table for a tensor between two nodes.  from, to and inputs identify
 * it. */
typedef struct edge {
	const pase_configs *from, *to;
	uint32_t inputs; /* inputs of `to' that read the tensor */
	int64_t *cost;	 /* [from][to] */
} edge;

typedef struct maker {
	arena *arena;
	layers *all;
	VEC(edge) edges;
} maker;

static int64_t *edge_costs(arena *a, const edge *e)
{
	enum { N = MAX_NDIM };
	arena *tmp = arena_new();
	int ndim = e->from->kernel->nout;
	double *holds = ARENA_ARRAY(tmp, double, N * e->from->n);
	double *reads = ARENA_ARRAY(tmp, double, N * e->to->n);
	int64_t *cost = ARENA_ARRAY(a, int64_t,
				    (size_t)e->from->n * (size_t)e->to->n);
	for (int i = 0; i < e->from->n; i++)
		pase_holds(e->from->kernel, &e->from->at[i], holds + N * i);
	for (int j = 0; j < e->to->n; j++)
		pase_reads(e->to->kernel, &e->to->at[j], e->inputs,
			   reads + N * j);
	for (int i = 0; i < e->from->n; i++) {
		int64_t from = counts_product(e->from->kernel, &e->from->at[i]);
		for (int j = 0; j < e->to->n; j++) {
			int64_t to = counts_product(e->to->kernel,
						    &e->to->at[j]);
			cost[i * e->to->n + j] =
				pase_rounded(pase_transfer(ndim, reads + N * j,
							   to, holds + N * i,
							   from));
		}
	}
	arena_free(tmp);
	return cost;
}

/* The cost table of an edge, shared with equal edges.  NULL if the tables would
 * be too large. */
static const int64_t *table_of(maker *m, edge e)
{
	for (int i = 0; i < m->edges.n; i++) {
		const edge *known = &m->edges.at[i];
		if (known->from == e.from && known->to == e.to &&
		    known->inputs == e.inputs)
			return known->cost;
	}
	m->all->cells += (int64_t)e.from->n * e.to->n;
	if (m->all->cells > PASE_MOST_CELLS)
		return NULL;
	e.cost = edge_costs(m->arena, &e);
	vec_push(m->arena, &m->edges, e);
	return e.cost;
}

/* The forward node that computes input i of a node, if i is the first input
 * that reads that tensor; otherwise NONE.  Sets *inputs to the set of inputs
 * that read it. */
static node_id maker_of(const graph *g, const bool *forward, const node *n,
			int i, uint32_t *inputs)
{
	node_id by = g->tensors[n->inputs[i]].producer;
	*inputs = byte_model_same_inputs(n, i);
	bool first = __builtin_ctz(*inputs) == i;
	return first && by != NONE && forward[by] ? by : NONE;
}

/* Adds the variable of a node and the tables of its edges.  Returns false if
 * the tables would be too large. */
static bool add_node(maker *m, const graph *g, const bool *forward, node_id id)
{
	const node *n = &g->nodes[id];
	const pase_configs *own = m->all->of[id];
	problem *p = m->all->problem;
	int var = problem_add_var(p, own ? own->n : 1);
	for (int i = 0; own && i < own->n; i++)
		problem_add_cost(p, var, i, own->cost[i]);
	for (int i = 0; own && i < n->kernel->ninputs; i++) {
		edge e = { .to = own };
		node_id by = maker_of(g, forward, n, i, &e.inputs);
		if (by == NONE)
			continue;
		e.from = m->all->of[by];
		const int64_t *table = table_of(m, e);
		if (!table)
			return false;
		problem_add_table(p, by, var, table);
	}
	return true;
}

/* The configurations of a node, shared with an earlier node that has the same
 * kernel and the same inputs left out. */
static const pase_configs *shared(arena *a, const layers *l, const graph *g,
				  node_id id, uint32_t without,
				  const layer_limits *limits)
{
	const kernel *k = g->nodes[id].kernel;
	for (node_id n = id - 1; n >= 0; n--)
		if (l->of[n] && l->of[n]->kernel == k &&
		    l->of[n]->without == without)
			return l->of[n];
	return layer_of(a, k, without, limits);
}

layers *layers_formulate(arena *a, const graph *g, const bool *forward,
			 const layer_limits *limits)
{
	layers *l = ARENA_NEW(a, layers);
	maker m = { .arena = a, .all = l };
	const shared_weights *w = pase_weights(a, g, forward);
	l->of = ARENA_ARRAY(a, const pase_configs *, g->nnodes);
	l->problem = problem_new(a);
	l->all = true;
	for (node_id n = 0; n < g->nnodes; n++) {
		if (forward[n])
			l->of[n] = shared(a, l, g, n, w->inputs[n], limits);
		l->all &= !forward[n] || l->of[n]->all;
		if (!add_node(&m, g, forward, n))
			return NULL;
	}
	return pase_weights_add(a, l, w) ? l : NULL;
}

int64_t layers_cost(const graph *g, const bool *forward, const counts *of)
{
	arena *tmp = arena_new();
	const shared_weights *w = pase_weights(tmp, g, forward);
	int64_t sum = pase_weights_cost(g, w, of);
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *n = &g->nodes[id];
		double reads[MAX_NDIM], holds[MAX_NVARS];
		uint32_t inputs;
		if (!forward[id])
			continue;
		sum = cost_add(sum, pase_rounded(pase_layer(
				       n->kernel, &of[id], w->inputs[id])));
		for (int i = 0; i < n->kernel->ninputs; i++) {
			node_id by = maker_of(g, forward, n, i, &inputs);
			if (by == NONE)
				continue;
			const kernel *from = g->nodes[by].kernel;
			pase_reads(n->kernel, &of[id], inputs, reads);
			pase_holds(from, &of[by], holds);
			double t = pase_transfer(
				from->nout, reads,
				counts_product(n->kernel, &of[id]), holds,
				counts_product(from, &of[by]));
			sum = cost_add(sum, pase_rounded(t));
		}
	}
	arena_free(tmp);
	return sum;
}
