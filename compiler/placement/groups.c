/* Groups of operators, and the hypergraph of their tensors. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "compiler/placement/groups.h"

typedef struct pair {
	int a, b;
} pair;

typedef VEC(pair) pairs;

/* A graph of groups while they are joined. */
typedef struct joiner {
	arena *a; /* scratch memory */
	const cost_graph *g;
	const group_options *o;
	int n;
	int *of;     /* by operator */
	pairs before; /* pairs in which the first precedes the second */
} joiner;

/* ---- order -------------------------------------------------------------- */

static void collect_order(joiner *j)
{
	const cost_graph *g = j->g;
	bool *forward = ARENA_ARRAY(j->a, bool, j->n);
	for (int v = 0; v < g->nops; v++)
		forward[j->of[v]] |= !g->ops[v].backward;
	for (int u = 0; u < g->nops; u++)
		for (int e = g->first_succ[u]; e < g->first_succ[u + 1]; e++) {
			int v = g->succ[e].op, a = j->of[u], b = j->of[v];
			bool back = g->ops[u].backward;
			if (a == b || back != g->ops[v].backward)
				continue;
			if (!back)
				vec_push(j->a, &j->before, ((pair){ a, b }));
			else if (!forward[a] || !forward[b])
				vec_push(j->a, &j->before, ((pair){ b, a }));
		}
}

static int by_pair(const void *x, const void *y)
{
	const pair *p = x, *q = y;
	if (p->a != q->a)
		return p->a < q->a ? -1 : 1;
	return (p->b > q->b) - (p->b < q->b);
}

/* Sorts pairs; removes repetitions and pairs of a group with itself. */
static void tidy(pairs *p)
{
	int n = 0;
	if (p->n > 1)
		qsort(p->at, (size_t)p->n, sizeof(pair), by_pair);
	for (int i = 0; i < p->n; i++)
		if (p->at[i].a != p->at[i].b &&
		    (n == 0 || by_pair(&p->at[i], &p->at[n - 1]) != 0))
			p->at[n++] = p->at[i];
	p->n = n;
}

static void rename_all(joiner *j, const int *to, int n)
{
	for (int v = 0; v < j->g->nops; v++)
		j->of[v] = to[j->of[v]];
	for (int i = 0; i < j->before.n; i++)
		j->before.at[i] = (pair){ to[j->before.at[i].a],
					  to[j->before.at[i].b] };
	tidy(&j->before);
	j->n = n;
}

/* ---- cycles ------------------------------------------------------------- */

/* Tarjan's algorithm without recursion.  to[] gets the number of each group's
 * component. */
typedef struct components {
	const pairs *edges; /* sorted */
	int *first;	    /* by group: index in edges */
	int *low, *number, *at, *stack, *path, *to;
	bool *open;
	int nstack, npath, seen, count;
} components;

static void enter(components *c, int v)
{
	c->low[v] = c->number[v] = ++c->seen;
	c->at[v] = c->first[v];
	c->stack[c->nstack++] = c->path[c->npath++] = v;
	c->open[v] = true;
}

static void leave(components *c, int v)
{
	int x;
	c->npath--;
	if (c->npath > 0 && c->low[v] < c->low[c->path[c->npath - 1]])
		c->low[c->path[c->npath - 1]] = c->low[v];
	if (c->low[v] < c->number[v])
		return;
	do {
		x = c->stack[--c->nstack];
		c->open[x] = false;
		c->to[x] = c->count;
	} while (x != v);
	c->count++;
}

static void explore(components *c, int root)
{
	enter(c, root);
	while (c->npath > 0) {
		int v = c->path[c->npath - 1];
		if (c->at[v] == c->first[v + 1]) {
			leave(c, v);
			continue;
		}
		int w = c->edges->at[c->at[v]++].b;
		if (!c->number[w])
			enter(c, w);
		else if (c->open[w] && c->number[w] < c->low[v])
			c->low[v] = c->number[w];
	}
}

static int *first_of(arena *a, const pairs *p, int n)
{
	int *first = ARENA_ARRAY(a, int, n + 1);
	for (int i = 0; i < p->n; i++)
		first[p->at[i].a + 1]++;
	for (int v = 0; v < n; v++)
		first[v + 1] += first[v];
	return first;
}

static void join_cycles(joiner *j)
{
	tidy(&j->before);
	components c = { .edges = &j->before,
			 .first = first_of(j->a, &j->before, j->n) };
	c.low = ARENA_ARRAY(j->a, int, j->n);
	c.number = ARENA_ARRAY(j->a, int, j->n);
	c.at = ARENA_ARRAY(j->a, int, j->n);
	c.stack = ARENA_ARRAY(j->a, int, j->n);
	c.path = ARENA_ARRAY(j->a, int, j->n);
	c.to = ARENA_ARRAY(j->a, int, j->n);
	c.open = ARENA_ARRAY(j->a, bool, j->n);
	for (int v = 0; v < j->n; v++)
		if (!c.number[v])
			explore(&c, v);
	rename_all(j, c.to, c.count);
}

/* ---- groups without time ------------------------------------------------ */

/* The group that v was joined to. */
static int root_of(int *joined, int v)
{
	while (joined[v] != v)
		v = joined[v] = joined[joined[v]];
	return v;
}

static pairs neighbours(joiner *j)
{
	pairs p = { 0 };
	for (int u = 0; u < j->g->nops; u++)
		for (int e = j->g->first_succ[u]; e < j->g->first_succ[u + 1];
		     e++) {
			int a = j->of[u], b = j->of[j->g->succ[e].op];
			vec_push(j->a, &p, ((pair){ a, b }));
			vec_push(j->a, &p, ((pair){ b, a }));
		}
	for (int i = 0; i < j->before.n; i++) {
		pair q = j->before.at[i];
		vec_push(j->a, &p, q);
		vec_push(j->a, &p, ((pair){ q.b, q.a }));
	}
	tidy(&p);
	return p;
}

/* The only neighbour of v; -1 if it has none or several. */
static int only_neighbour(const pairs *p, const int *first, int *joined,
			  const int *next, int v)
{
	int only = -1;
	for (int x = v; x >= 0; x = next[x])
		for (int i = first[x]; i < first[x + 1]; i++) {
			int b = root_of(joined, p->at[i].b);
			if (b == v || b == only)
				continue;
			if (only >= 0)
				return -1;
			only = b;
		}
	return only;
}

/* Joins groups that take no time and have edges with only one other group to
 * that group. */
static void join_timeless(joiner *j)
{
	int n = j->n, count = 0;
	pairs near = neighbours(j);
	int *first = first_of(j->a, &near, n);
	int *joined = ARENA_ARRAY(j->a, int, n);
	int *to = ARENA_ARRAY(j->a, int, n);
	int *next = ARENA_ARRAY(j->a, int, n);
	int *last = ARENA_ARRAY(j->a, int, n);
	bool *time_model = ARENA_ARRAY(j->a, bool, n), again = true;
	for (int v = 0; v < j->g->nops; v++) {
		const cost_op *op = &j->g->ops[v];
		time_model[j->of[v]] |= op->ns > 0 ||
			(j->o->cores && op->core_ns != 0);
	}
	for (int v = 0; v < n; v++) {
		joined[v] = last[v] = v;
		next[v] = -1;
	}
	while (again) {
		again = false;
		for (int v = 0; v < n; v++) {
			int b = joined[v] != v || time_model[v] ? -1 :
				only_neighbour(&near, first, joined, next, v);
			if (b < 0)
				continue;
			joined[v] = b;
			next[last[b]] = v;
			last[b] = last[v];
			again = true;
		}
	}
	for (int v = 0; v < n; v++)
		if (joined[v] == v)
			to[v] = count++;
	for (int v = 0; v < n; v++)
		if (joined[v] != v)
			to[v] = to[root_of(joined, v)];
	rename_all(j, to, count);
}

/* ---- the result --------------------------------------------------------- */

static void sum_up(arena *a, const joiner *j, groups *r)
{
	r->ns = ARENA_ARRAY(a, int64_t, r->n);
	r->core_ns = ARENA_ARRAY(a, int64_t, r->n);
	r->nbytes = ARENA_ARRAY(a, int64_t, r->n);
	for (int v = 0; v < j->g->nops; v++) {
		const cost_op *op = &j->g->ops[v];
		int x = j->of[v];
		r->ns[x] += op->ns;
		r->nbytes[x] += j->o->nbytes[v];
		if (op->core_ns < 0 || r->core_ns[x] == GROUP_NEVER)
			r->core_ns[x] = GROUP_NEVER;
		else
			r->core_ns[x] += op->core_ns;
	}
}

static int by_number(const void *x, const void *y)
{
	int a = *(const int *)x, b = *(const int *)y;
	return (a > b) - (a < b);
}

/* Lists the groups of a result's producer and readers, each once.  Returns how
 * many. */
static int pins_of(const joiner *j, const cost_result *t, int *to)
{
	int n = 0, m = 0;
	to[n++] = j->of[t->producer];
	for (int i = 0; i < t->nreaders; i++)
		to[n++] = j->of[j->g->readers[t->first_reader + i]];
	qsort(to, (size_t)n, sizeof(*to), by_number);
	for (int i = 0; i < n; i++)
		if (i == 0 || to[i] != to[i - 1])
			to[m++] = to[i];
	return m;
}

/* The edge with these pins; -1 if there is none yet. */
static int find_edge(const groups *r, const hash_table *by_pins, uint64_t hash,
		     const int *pins, int n)
{
	uint32_t at = 0;
	for (int e; (e = hash_table_next(by_pins, hash, &at)) >= 0;)
		if (r->edges[e].n == n &&
		    !memcmp(&r->pins[r->edges[e].first], pins,
			    sizeof(*pins) * (size_t)n))
			return e;
	return -1;
}

/* Makes edges; those with equal pins become one. */
static void connect(arena *a, const joiner *j, groups *r)
{
	const cost_graph *g = j->g;
	hash_table by_pins = { 0 };
	int npins = 0, *pins;
	for (int i = 0; i < g->nresults; i++)
		npins += 1 + g->results[i].nreaders;
	r->edges = ARENA_ARRAY(a, hyperedge, g->nresults);
	r->pins = pins = ARENA_ARRAY(a, int, npins);
	for (int i = 0; i < g->nresults; i++) {
		int n = pins_of(j, &g->results[i], pins);
		int64_t ns = j->o->transfer_ns[i];
		if (n < 2 || ns == 0)
			continue;
		uint64_t hash = hash_bytes(HASH_SEED, pins,
					   sizeof(*pins) * (size_t)n);
		int same = find_edge(r, &by_pins, hash, pins, n);
		if (same >= 0) {
			r->edges[same].ns += ns;
			continue;
		}
		hash_table_add(j->a, &by_pins, hash, r->nedges);
		r->edges[r->nedges++] =
			(hyperedge){ ns, (int)(pins - r->pins), n };
		pins += n;
	}
}

static void set_order(arena *a, joiner *j, groups *r)
{
	pairs turned = { 0 };
	for (int i = 0; i < j->before.n; i++)
		vec_push(j->a, &turned, ((pair){ j->before.at[i].b,
						 j->before.at[i].a }));
	tidy(&turned);
	r->first_before = first_of(a, &turned, r->n);
	r->before = ARENA_ARRAY(a, int, turned.n);
	for (int i = 0; i < turned.n; i++)
		r->before[i] = turned.at[i].b;
}

groups *groups_new(arena *a, const cost_graph *g, const group_options *o)
{
	arena *own = arena_new();
	joiner j = { .a = own, .g = g, .o = o, .n = g->ncolours };
	groups *r = ARENA_NEW(a, groups);
	j.of = ARENA_ARRAY(a, int, g->nops);
	for (int v = 0; v < g->nops; v++)
		j.of[v] = g->ops[v].colour;
	collect_order(&j);
	if (o->contiguous)
		join_cycles(&j);
	if (o->join)
		join_timeless(&j);
	tidy(&j.before);
	r->n = j.n;
	r->of = j.of;
	sum_up(a, &j, r);
	connect(a, &j, r);
	if (o->contiguous)
		set_order(a, &j, r);
	arena_free(own);
	return r;
}
