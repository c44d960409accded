#include "config.h"

#include "compiler/placement/cost_graph.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/vec.h"

typedef struct new_edge {
	int from, to;
	bool own;
	double bytes, ms; /* of a result of its own */
	int result;
} new_edge;

struct cost_builder {
	arena *a;
	diag_sink *s;
	const char *path;
	strmap *ids; /* number + 1 by id, as a pointer */
	VEC(cost_op) ops;
	VEC(double) bytes, ms; /* of each operator's first result */
	VEC(new_edge) edges;
	bool wrong;
};

int64_t cost_ns(double ms)
{
	return (int64_t)floor(ms * 1e6 + 0.5);
}

cost_builder *cost_builder_new(arena *a, diag_sink *s, const char *path)
{
	cost_builder *b = ARENA_NEW(a, cost_builder);
	b->a = a;
	b->s = s;
	b->path = path;
	b->ids = strmap_new(a);
	return b;
}

int cost_builder_op(cost_builder *b, const cost_op *op)
{
	cost_op new = *op;
	if (strmap_get(b->ids, op->id)) {
		diag_error_in(b->s, DIAG_COST_GRAPH_INVALID, b->path,
			      "two operators have the id '%.100s'", op->id);
		b->wrong = true;
		return -1;
	}
	if (b->ops.n >= COST_GRAPH_MAX_OPS) {
		diag_error_in(b->s, DIAG_COST_GRAPH_INVALID, b->path,
			      "more than %d operators", COST_GRAPH_MAX_OPS);
		b->wrong = true;
		return -1;
	}
	new.ns = cost_ns(op->ms);
	new.core_ns = op->core_ms < 0 ? -1 : cost_ns(op->core_ms);
	vec_push(b->a, &b->ops, new);
	vec_push(b->a, &b->bytes, 0.0);
	vec_push(b->a, &b->ms, -1.0);
	/* NULL means absent. */
	strmap_put(b->ids, op->id, (void *)(intptr_t)b->ops.n);
	return b->ops.n - 1;
}

int cost_builder_find(const cost_builder *b, const char *id)
{
	return (int)(intptr_t)strmap_get(b->ids, id) - 1;
}

int cost_builder_count(const cost_builder *b)
{
	return b->ops.n;
}

cost_op *cost_builder_at(cost_builder *b, int op)
{
	return &b->ops.at[op];
}

static bool add_edge(cost_builder *b, new_edge e)
{
	assert(e.from >= 0 && e.from < b->ops.n);
	assert(e.to >= 0 && e.to < b->ops.n);
	if (b->edges.n >= COST_GRAPH_MAX_EDGES) {
		diag_error_in(b->s, DIAG_COST_GRAPH_INVALID, b->path,
			      "more than %d edges", COST_GRAPH_MAX_EDGES);
		b->wrong = true;
		return false;
	}
	vec_push(b->a, &b->edges, e);
	return true;
}

bool cost_builder_edge(cost_builder *b, int u, int v)
{
	return add_edge(b, (new_edge){ .from = u, .to = v });
}

void cost_builder_result(cost_builder *b, int u, double bytes, double ms)
{
	b->bytes.at[u] = bytes;
	b->ms.at[u] = ms;
}

bool cost_builder_own(cost_builder *b, int u, int v, double bytes, double ms)
{
	return add_edge(b, (new_edge){ u, v, true, bytes, ms, 0 });
}

/* ---- finishing ----------------------------------------------------------- */

/* Sorts edges stably by one end.  The edges of operator i are numbers first[i]
 * .. first[i + 1] of the list. */
static int *group_edges(arena *a, int n, const new_edge *e, int ne,
			bool by_source, int **first_of)
{
	int *first = ARENA_ARRAY(a, int, n + 2);
	int *list = ARENA_ARRAY(a, int, ne);
	for (int i = 0; i < ne; i++)
		first[(by_source ? e[i].from : e[i].to) + 2]++;
	for (int i = 0; i < n; i++)
		first[i + 2] += first[i + 1];
	for (int i = 0; i < ne; i++)
		list[first[(by_source ? e[i].from : e[i].to) + 1]++] = i;
	*first_of = first;
	return list;
}

/* Keeps only the first edge of each pair of operators. */
static void drop_repeated(cost_builder *b)
{
	arena *work = arena_new();
	int n = b->ops.n, kept = 0, *first;
	int *seen = ARENA_ARRAY(work, int, n);
	int *list = group_edges(work, n, b->edges.at, b->edges.n, true, &first);
	bool *drop = ARENA_ARRAY(work, bool, b->edges.n);
	for (int u = 0; u < n; u++)
		for (int i = first[u]; i < first[u + 1]; i++) {
			int v = b->edges.at[list[i]].to;
			drop[list[i]] = seen[v] == u + 1;
			seen[v] = u + 1;
		}
	for (int i = 0; i < b->edges.n; i++)
		if (!drop[i])
			b->edges.at[kept++] = b->edges.at[i];
	if (kept < b->edges.n)
		diag_warning_in(b->s, DIAG_COST_GRAPH_REPAIRED, b->path,
				"%d edges appear twice; they count once",
				b->edges.n - kept);
	b->edges.n = kept;
	arena_free(work);
}

static void add_result(cost_graph *g, int producer, double bytes, double ms)
{
	g->results[g->nresults++] = (cost_result){
		.producer = producer, .bytes = bytes,
		.nbytes = (int64_t)floor(bytes + 0.5), .ms = ms };
}

/* Makes the results, operator by operator: first the shared one, unless nobody
 * reads it and there are others, then those of single edges. */
static void make_results(arena *a, cost_builder *b, cost_graph *g,
			 const int *list, const int *first)
{
	g->results = ARENA_ARRAY(a, cost_result, g->nops + g->nedges);
	g->first_result = ARENA_ARRAY(a, int, g->nops + 1);
	g->readers = ARENA_ARRAY(a, int, g->nedges);
	int nreaders = 0;
	for (int u = 0; u < g->nops; u++) {
		int shared = 0, of = g->nresults;
		g->first_result[u] = of;
		for (int i = first[u]; i < first[u + 1]; i++)
			shared += !b->edges.at[list[i]].own;
		if (shared > 0 || first[u] == first[u + 1]) {
			add_result(g, u, b->bytes.at[u], b->ms.at[u]);
			g->results[of].first_reader = nreaders;
			g->results[of].nreaders = shared;
			nreaders += shared;
		}
		for (int i = first[u], at = nreaders - shared;
		     i < first[u + 1]; i++) {
			new_edge *e = &b->edges.at[list[i]];
			e->result = e->own ? g->nresults : of;
			if (!e->own) {
				g->readers[at++] = e->to;
				continue;
			}
			add_result(g, u, e->bytes, e->ms);
			g->results[e->result].first_reader = nreaders;
			g->results[e->result].nreaders = 1;
			g->readers[nreaders++] = e->to;
		}
	}
	g->first_result[g->nops] = g->nresults;
}

static void make_edges(arena *a, cost_builder *b, cost_graph *g)
{
	int *list = group_edges(a, g->nops, b->edges.at, g->nedges, true,
				&g->first_succ);
	make_results(a, b, g, list, g->first_succ);
	g->succ = ARENA_ARRAY(a, cost_edge, g->nedges);
	g->pred = ARENA_ARRAY(a, cost_edge, g->nedges);
	for (int i = 0; i < g->nedges; i++)
		g->succ[i] = (cost_edge){ b->edges.at[list[i]].to,
					  b->edges.at[list[i]].result };
	list = group_edges(a, g->nops, b->edges.at, g->nedges, false,
			   &g->first_pred);
	for (int i = 0; i < g->nedges; i++)
		g->pred[i] = (cost_edge){ b->edges.at[list[i]].from,
					  b->edges.at[list[i]].result };
}

/* ---- order --------------------------------------------------------------- */

/* A heap of operators with the lowest number at the top. */
static void heap_push(int *heap, int *n, int v)
{
	int i = (*n)++;
	for (; i > 0 && heap[(i - 1) / 2] > v; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = v;
}

static int heap_pop(int *heap, int *n)
{
	int top = heap[0], v = heap[--*n], i = 0;
	for (int c; (c = 2 * i + 1) < *n; i = c) {
		c += c + 1 < *n && heap[c + 1] < heap[c];
		if (heap[c] >= v)
			break;
		heap[i] = heap[c];
	}
	heap[i] = v;
	return top;
}

/* Reports some operators of a cycle.  left[v] > 0 for operators in a cycle or
 * after one. */
static void say_cycle(const cost_builder *b, const cost_graph *g,
		      const int *left)
{
	enum { MOST = 6 };
	int v = 0, length = 0;
	while (left[v] == 0)
		v++;
	/* Each of these has a predecessor among them, so after nops steps
	 * backwards one is in a cycle. */
	for (int i = 0, j; i < g->nops; i++, v = g->pred[j].op)
		for (j = g->first_pred[v]; left[g->pred[j].op] == 0;)
			j++;
	const char *text = g->ops[v].id;
	for (int u = v, j;;) {
		for (j = g->first_pred[u]; left[g->pred[j].op] == 0;)
			j++;
		u = g->pred[j].op;
		if (++length <= MOST || u == v)
			text = arena_printf(b->a, "%.60s -> %s", g->ops[u].id,
					    text);
		else if (length == MOST + 1)
			text = arena_printf(b->a, ".. -> %s", text);
		if (u == v)
			break;
	}
	diag_error_in(b->s, DIAG_COST_GRAPH_CYCLE, b->path,
		      "operators wait for each other in a circle: %s", text);
}

static bool find_order(const cost_builder *b, cost_graph *g)
{
	arena *work = arena_new();
	int *left = ARENA_ARRAY(work, int, g->nops);
	int *heap = ARENA_ARRAY(work, int, g->nops), nheap = 0, n = 0;
	g->order = ARENA_ARRAY(b->a, int, g->nops);
	for (int v = 0; v < g->nops; v++) {
		left[v] = g->first_pred[v + 1] - g->first_pred[v];
		if (left[v] == 0)
			heap_push(heap, &nheap, v);
	}
	while (nheap > 0) {
		int u = heap_pop(heap, &nheap);
		g->order[n++] = u;
		for (int i = g->first_succ[u]; i < g->first_succ[u + 1]; i++)
			if (--left[g->succ[i].op] == 0)
				heap_push(heap, &nheap, g->succ[i].op);
	}
	if (n < g->nops)
		say_cycle(b, g, left);
	arena_free(work);
	return n == g->nops;
}

/* ---- all ----------------------------------------------------------------- */

/* Whether sums over a schedule do not overflow. */
static bool sums_fit(const cost_builder *b, const cost_graph *g)
{
	double ns = 0, bytes = 0;
	for (int v = 0; v < g->nops; v++) {
		const cost_op *op = &g->ops[v];
		ns += op->ms * 1e6 + (op->core_ms > 0 ? op->core_ms * 1e6 : 0);
		bytes += (double)op->resident_nbytes;
	}
	for (int r = 0; r < g->nresults; r++) {
		const cost_result *x = &g->results[r];
		ns += x->ms > 0 ? x->ms * 1e6 * x->nreaders : 0;
		bytes += x->bytes * (1 + x->nreaders);
	}
	if (ns < (double)COST_GRAPH_MAX_NS && bytes < 0x1p61)
		return true;
	diag_error_in(b->s, DIAG_COST_GRAPH_INVALID, b->path,
		      "the costs add up to more than can be counted (%.0f s, "
		      "%.0f bytes)", ns * 1e-9, bytes);
	return false;
}

/* Numbers colours from 0 in the order of operators. */
static void number_colours(cost_graph *g)
{
	arena *work = arena_new();
	strmap *seen = strmap_new(work);
	for (int v = 0; v < g->nops; v++) {
		cost_op *op = &g->ops[v];
		if (op->colour < 0) {
			op->colour = g->ncolours++;
			continue;
		}
		const char *key = arena_printf(work, "%d", op->colour);
		void *old = strmap_get(seen, key);
		op->colour = old ? (int)(intptr_t)old - 1 : g->ncolours++;
		if (!old)
			strmap_put(seen, key,
				   (void *)(intptr_t)(op->colour + 1));
	}
	arena_free(work);
}

cost_graph *cost_builder_finish(cost_builder *b, cost_format format)
{
	if (b->wrong)
		return NULL;
	if (b->ops.n == 0) {
		diag_error_in(b->s, DIAG_COST_GRAPH_INVALID, b->path,
			      "the graph has no operators");
		return NULL;
	}
	drop_repeated(b);
	cost_graph *g = ARENA_NEW(b->a, cost_graph);
	const char *slash = strrchr(b->path, '/');
	g->path = b->path;
	g->file = g;
	g->name = slash ? slash + 1 : b->path;
	g->format = format;
	g->nops = b->ops.n;
	g->ops = ARENA_COPY(b->a, b->ops.at, b->ops.n);
	g->nedges = b->edges.n;
	g->accelerators = g->cores = g->memory_nbytes = -1;
	for (int v = 0; v < g->nops; v++)
		g->training |= g->ops[v].backward;
	make_edges(b->a, b, g);
	number_colours(g);
	return find_order(b, g) && sums_fit(b, g) ? g : NULL;
}

/* The first byte that is no blank. */
static char first_of(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return *text;
}

cost_graph *cost_graph_read(arena *a, diag_sink *s, const char *path)
{
	size_t len;
	char *text = file_read(a, s, path, COST_GRAPH_MAX_FILE, &len);
	if (!text)
		return NULL;
	if (first_of(text) == '{' || first_of(text) == '[')
		return cost_graph_read_dnn(a, s, path, text, len);
	return cost_graph_read_profile(a, s, path, text, len);
}
