#include "config.h"

#include "compiler/cost/time_model.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"
#include "compiler/cost/byte_model.h"
#include "compiler/cost/instr_time.h"
#include "compiler/graph/turns.h"
#include "layout/layout_classes.h"

/* Of similar pairs one has the table; of similar nodes one has the seconds of
 * their runs, stored without a tensor. */
typedef struct known {
	const kernel *kernel;
	uint32_t inputs;
	int runs; /* of the nodes, as graph_runs() */
	const candidates *nodes, *tensors;
	const void *found;
} known;

/* Stored in place of inputs if there is no tensor. */
enum { ARITHMETIC = 1 };

struct time_model_cache {
	arena *arena;
	mesh mesh;
	const topology *topology;
	topology at_once; /* the same machine with infinitely fast memory */
	bool bounds;
	int64_t pad; /* the greatest amount by which a size was rounded up */
	VEC(known) known;
	hash_table by_key;
};

/* ---- one table --------------------------------------------------------- */

/* A node in all its candidates, with a tensor in all its own. */
typedef struct pair {
	time_model_cache *cache;
	const known *known;
	const tensor_type *type; /* of the tensor */
	layout_classes *classes;
} pair;

static pair pair_of(arena *tmp, time_model_cache *b, const known *e,
		    const tensor_type *type)
{
	return (pair){ b, e, type, layout_classes_new(tmp, &b->mesh) };
}

/* The layouts of the tensor as stored by its j-th candidate, and as read or
 * computed by the node's i-th candidate. */
static layout stored(const pair *x, int j)
{
	return (layout){ .kind = LAYOUT_STORED,
			 .type = x->type->type,
			 .ndim = x->type->ndim,
			 .dims = x->type->dims,
			 .cuts = &x->known->tensors->at[j] };
}

static layout used(const pair *x, layout_kind kind, int i, int j)
{
	layout l = stored(x, j);
	l.kind = kind;
	l.kernel = x->known->kernel;
	l.space = &x->known->nodes->at[i];
	l.inputs = x->known->inputs;
	if (kind == LAYOUT_NEEDS)
		l.zeros = layout_zero_axes(&x->cache->mesh, l.kernel, l.space,
					   l.inputs, l.cuts);
	return l;
}

static int64_t rounded(int64_t n, int64_t *pad)
{
	int64_t up = round_up(n, PLAN_ALIGN);
	if (up - n > *pad)
		*pad = up - n;
	return up;
}

/* The least time in which a worker receives its share of `bytes': one message,
 * over links that each bring a share of what its part of the machine gets. */
static double least_seconds(const pair *x, double bytes)
{
	const topology *t = x->cache->topology;
	double latency = t->levels[0].latency, fastest = 0, parts = 1;
	for (int i = t->nlevels; i-- > 0;) {
		const topology_level *l = &t->levels[i];
		if (l->latency < latency)
			latency = l->latency;
		if (l->bandwidth * parts > fastest)
			fastest = l->bandwidth * parts;
		parts *= l->size;
	}
	int n = mesh_workers(&x->cache->mesh);
	if (t->profiled) /* what was measured may be any time */
		return 0;
	if (t->now) /* the curves may begin anywhere */
		latency = 0;
	return bytes > 0 ? latency + bytes / n / fastest : 0;
}

/* The number of workers examined: few of many. */
static int examined(const mesh *m)
{
	enum { FEW = 8, OF_MANY = 4 };
	int n = mesh_workers(m);
	return n <= FEW ? n : OF_MANY;
}

static void add_transfer(pair *x, layout_use use, const layout *from,
			 const layout *to, time_model_cost *c)
{
	const mesh *m = &x->cache->mesh;
	const layout_transfer move = { m, *from, *to, use == LAYOUT_COMBINE };
	int which = layout_class_pair(x->classes, use,
				      layout_class_of(x->classes, from),
				      layout_class_of(x->classes, to));
	collective how = layout_pair_collective(x->classes, which);
	int64_t bytes = layout_pair_received(x->classes, which);
	double seconds = transfer_time(x->cache->topology, &move, how,
				       examined(m), NULL);
	c->seconds += seconds;
	c->remote += how == COLL_LOCAL ? 0 : seconds;
	if (x->cache->bounds)
		c->least += least_seconds(x, (double)bytes);
}

/* Bytes of a buffer with a layout. */
static int64_t room(pair *x, const layout *l)
{
	int class = layout_class_of(x->classes, l);
	return rounded(layout_class_nbytes(x->classes, class), &x->cache->pad);
}

static bool are_same(pair *x, const layout *l, const layout *m)
{
	return layout_class_same(x->classes, layout_class_of(x->classes, l),
				 layout_class_of(x->classes, m));
}

static const time_model_cost impossible = { .seconds = INFINITY };

/* Whether the tensor is partial only where the node gives it or passes it
 * on. */
static bool fits(const pair *x, int i, int j)
{
	const known *e = x->known;
	return layout_fits(&x->cache->mesh, e->kernel, &e->nodes->at[i],
			   e->inputs, &e->tensors->at[j]);
}

static time_model_cost fetch_cost(pair *x, int i, int j)
{
	time_model_cost c = { 0 };
	const layout from = stored(x, j), to = used(x, LAYOUT_NEEDS, i, j);
	if (!fits(x, i, j))
		return impossible;
	int have = layout_class_of(x->classes, &from);
	if (layout_class_cover(x->classes, have,
			       layout_class_of(x->classes, &to)))
		return c;
	add_transfer(x, LAYOUT_MOVE, &from, &to, &c);
	c.copy = room(x, &to);
	return c;
}

static time_model_cost result_cost(pair *x, int i, int j)
{
	time_model_cost c = { 0 };
	const layout to = stored(x, j), made = used(x, LAYOUT_PRODUCES, i, j);
	const layout shard = used(x, LAYOUT_REDUCED_SHARD, i, j);
	bool partial = layout_combined_axes(&x->cache->mesh, made.kernel,
					    made.space, to.cuts) != 0;
	if (!fits(x, i, j))
		return impossible;
	if (!partial && are_same(x, &made, &to))
		return c;
	c.copy = room(x, &made);
	if (!partial) {
		add_transfer(x, LAYOUT_MOVE, &made, &to, &c);
	} else if (are_same(x, &shard, &to)) {
		add_transfer(x, LAYOUT_COMBINE, &made, &to, &c);
	} else {
		c.shard = room(x, &shard);
		add_transfer(x, LAYOUT_COMBINE, &made, &shard, &c);
		add_transfer(x, LAYOUT_MOVE, &shard, &to, &c);
	}
	return c;
}

static const time_model_cost *make_table(time_model_cache *b, const known *e,
					 const tensor_type *type)
{
	arena *tmp = arena_new();
	pair x = pair_of(tmp, b, e, type);
	int nt = e->tensors->n;
	time_model_cost *c =
		ARENA_ARRAY(b->arena, time_model_cost, e->nodes->n * nt);
	for (int i = 0; i < e->nodes->n; i++)
		for (int j = 0; j < nt; j++)
			c[i * nt + j] = e->inputs ? fetch_cost(&x, i, j)
						  : result_cost(&x, i, j);
	for (int i = 0; i < e->nodes->n * nt; i++) {
		c[i].seconds *= e->runs;
		c[i].remote *= e->runs;
		c[i].least *= e->runs;
	}
	arena_free(tmp);
	return c;
}

/* ---- tables that were made already ------------------------------------- */

static uint64_t hash_known(const known *e)
{
	const void *p[] = { e->kernel, e->nodes, e->tensors };
	uint64_t h = hash_i64(hash_i64(HASH_SEED, e->inputs), e->runs);
	return hash_bytes(h, p, sizeof(p));
}

/* Sets e->found if it was computed already. */
static bool find_known(const time_model_cache *b, known *e)
{
	uint64_t hash = hash_known(e);
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&b->by_key, hash, &at)) >= 0;) {
		const known *x = &b->known.at[i];
		if (x->kernel == e->kernel && x->inputs == e->inputs &&
		    x->runs == e->runs && x->nodes == e->nodes &&
		    x->tensors == e->tensors) {
			e->found = x->found;
			return true;
		}
	}
	return false;
}

static void add_known(time_model_cache *b, const known *e)
{
	hash_table_add(b->arena, &b->by_key, hash_known(e), b->known.n);
	vec_push(b->arena, &b->known, *e);
}

static const time_model_cost *table_of(time_model_cache *b, known e,
				       const tensor_type *type)
{
	if (!find_known(b, &e)) {
		e.found = make_table(b, &e, type);
		add_known(b, &e);
	}
	return e.found;
}

/* ---- all of them ------------------------------------------------------- */

/* Whether a node's input i, or for -1 its result, is the first of the inputs
 * that are this tensor. */
static bool is_first(const node *n, int i, uint32_t *inputs)
{
	*inputs = i < 0 ? 0 : byte_model_same_inputs(n, i);
	return i < 0 || __builtin_ctz(*inputs) == i;
}

static tensor_id tensor_at(const node *n, int i)
{
	return i < 0 ? n->output : n->inputs[i];
}

static void add_pairs(arena *a, time_model_cache *b, time_model *x, node_id id)
{
	const node *n = &x->graph->nodes[id];
	x->first[id] = x->pairs.n;
	for (int i = -1; i < n->kernel->ninputs; i++) {
		time_model_pair p = { .node = id, .tensor = tensor_at(n, i) };
		if (!is_first(n, i, &p.inputs))
			continue;
		const known e = { n->kernel, p.inputs,
				  graph_runs(x->graph, id),
				  x->candidates->nodes[id],
				  x->candidates->tensors[p.tensor], NULL };
		p.cost = table_of(b, e, &x->graph->tensors[p.tensor].type);
		vec_push(a, &x->pairs, p);
	}
}

/* Seconds of each way to run a node on a machine.  Where kernels were measured,
 * nothing is known of its arithmetic alone: a kernel into which it is merged
 * may take any time. */
static const double *make_runs(time_model_cache *b, const known *e,
			       const topology *t)
{
	const mesh *m = &b->mesh;
	double *s = ARENA_ARRAY(b->arena, double, e->nodes->n);
	if (t == &b->at_once && t->profiled)
		return s;
	for (int i = 0; i < e->nodes->n; i++) {
		const cuts *c = &e->nodes->at[i];
		const layout made = { .kind = LAYOUT_PRODUCES,
				      .type = e->kernel->type,
				      .kernel = e->kernel, .space = c };
		s[i] = e->runs * run_time(t, m, &made, &made, examined(m),
					NULL);
	}
	return s;
}

static const double *runs_of(time_model_cache *b, const time_model *to,
			     node_id id, bool work)
{
	const node *n = &to->graph->nodes[id];
	known e = { .kernel = n->kernel, .nodes = to->candidates->nodes[id],
		    .inputs = work ? ARITHMETIC : 0,
		    .runs = graph_runs(to->graph, id) };
	if (!find_known(b, &e)) {
		e.found = make_runs(b, &e, work ? &b->at_once : b->topology);
		add_known(b, &e);
	}
	return e.found;
}

/* Bytes of the last block, which is the largest. */
static const int64_t *blocks_of(arena *a, time_model_cache *c,
				const tensor_type *t, const candidates *w)
{
	const mesh *m = &c->mesh;
	int64_t *n = ARENA_ARRAY(a, int64_t, w->n);
	box whole = box_whole(t->dims, t->ndim);
	int last[MAX_AXES];
	for (int i = 0; i < m->naxes; i++)
		last[i] = m->size[i] - 1;
	for (int i = 0; i < w->n; i++) {
		box at = cuts_block(&whole, m, &w->at[i], m->naxes, last);
		n[i] = rounded(box_volume(&at) * (int64_t)dtype_size(t->type),
			       &c->pad);
	}
	return n;
}

time_model_cache *time_model_cache_new(arena *a, const mesh *m,
				       const topology *t, bool bounds)
{
	time_model_cache *c = ARENA_NEW(a, time_model_cache);
	*c = (time_model_cache){ .arena = a, .mesh = *m, .topology = t,
				 .at_once = *t, .bounds = bounds };
	c->at_once.bandwidth = INFINITY;
	return c;
}

time_model *time_model_new(arena *a, time_model_cache *c, const graph *g,
			   const candidate_set *w)
{
	time_model *x = ARENA_NEW(a, time_model);
	*x = (time_model){.mesh = c->mesh,
			  .graph = g,
			  .candidates = w,
			  .run = ARENA_ARRAY(a, const double *, g->nnodes),
			  .work = ARENA_ARRAY(a, const double *, g->nnodes),
			  .stored =
				  ARENA_ARRAY(a, const int64_t *, g->ntensors),
			  .first = ARENA_ARRAY(a, int, g->nnodes + 1)};
	for (node_id n = 0; n < g->nnodes; n++) {
		x->run[n] = runs_of(c, x, n, false);
		if (c->bounds)
			x->work[n] = runs_of(c, x, n, true);
		add_pairs(a, c, x, n);
	}
	x->first[g->nnodes] = x->pairs.n;
	for (tensor_id i = 0; i < g->ntensors; i++)
		x->stored[i] = blocks_of(a, c, &g->tensors[i].type,
					 w->tensors[i]);
	x->pad = c->pad;
	return x;
}

int64_t time_model_cells(const graph *g, const candidate_set *w)
{
	int64_t cells = 0;
	uint32_t inputs;
	for (node_id id = 0; id < g->nnodes; id++)
		for (int i = -1; i < g->nodes[id].kernel->ninputs; i++)
			if (is_first(&g->nodes[id], i, &inputs)) {
				tensor_id t = tensor_at(&g->nodes[id], i);
				cells += (int64_t)w->nodes[id]->n *
					 w->tensors[t]->n;
			}
	return cells;
}

/* ---- the problem ------------------------------------------------------- */

/* COST_MAX is more than ten days, so it fits. */
static int64_t picoseconds(double seconds)
{
	double c = seconds * 1e12;
	return c < (double)COST_MAX ? (int64_t)c : COST_MAX;
}

/* A table of picoseconds made from a table of costs and a price per byte. */
typedef struct priced {
	const time_model_cost *from;
	double price;
	const int64_t *to;
} priced;

typedef struct priced_tables {
	VEC(priced) all;
	hash_table by_key;
} priced_tables;

static uint64_t hash_priced(const time_model_cost *from, double price)
{
	uint64_t h = hash_bytes(HASH_SEED, &from, sizeof(from));
	return hash_bytes(h, &price, sizeof(price));
}

static const int64_t *priced_table(arena *a, const time_model_cost *from,
				   double price, int n)
{
	int64_t *to = ARENA_ARRAY(a, int64_t, n);
	for (int j = 0; j < n; j++)
		to[j] = picoseconds(from[j].seconds +
				    price * (double)(from[j].copy +
						     from[j].shard));
	return to;
}

/* One table for all that have equal costs and prices. */
static const int64_t *table_for(arena *a, priced_tables *had,
				const time_model_cost *from, double price,
				int n)
{
	uint64_t h = hash_priced(from, price);
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&had->by_key, h, &at)) >= 0;)
		if (had->all.at[i].from == from &&
		    had->all.at[i].price == price)
			return had->all.at[i].to;
	const int64_t *to = priced_table(a, from, price, n);
	hash_table_add(a, &had->by_key, h, had->all.n);
	vec_push(a, &had->all, ((priced){ from, price, to }));
	return to;
}

static void add_tables(arena *a, problem *to, const time_model *x,
		       const memory_prices *p)
{
	const candidate_set *w = x->candidates;
	priced_tables had = { 0 };
	for (int i = 0; i < x->pairs.n; i++) {
		const time_model_pair *q = &x->pairs.at[i];
		double price = p->nodes ? p->nodes[q->node] : 0;
		int n = w->nodes[q->node]->n * w->tensors[q->tensor]->n;
		problem_add_table(to, x->graph->ntensors + q->node,
				  w->tied[q->tensor],
				  table_for(a, &had, q->cost, price, n));
	}
}

problem *time_model_problem(arena *a, const time_model *x,
			    const memory_prices *p)
{
	const graph *g = x->graph;
	const candidate_set *w = x->candidates;
	problem *to = problem_new(a);
	for (tensor_id t = 0; t < g->ntensors; t++)
		problem_add_var(to, w->tied[t] == t ? w->tensors[t]->n : 1);
	for (node_id n = 0; n < g->nnodes; n++) {
		int var = problem_add_var(to, w->nodes[n]->n);
		for (int i = 0; i < w->nodes[n]->n; i++)
			problem_add_cost(to, var, i, picoseconds(x->run[n][i]));
	}
	for (tensor_id t = 0; t < g->ntensors; t++)
		for (int i = 0; p->tensors && i < w->tensors[t]->n; i++)
			problem_add_cost(to, w->tied[t], i, picoseconds(
				p->tensors[t] * (double)x->stored[t][i]));
	add_tables(a, to, x, p);
	return to;
}
