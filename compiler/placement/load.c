/* Placements of least load: contiguous ones, bounds, and the definition of
 * load. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/placement/load_chain.h"

/* ---- the definition ----------------------------------------------------- */

/* Adds a tensor's transfer to the loads of all accelerators with its producer
 * or a reader, if these are several devices. */
static void add_transfer(const cost_graph *g, const load_options *o, int i,
			 const int *device, bool *there, int64_t *load)
{
	const cost_result *t = &g->results[i];
	int n = o->accelerators + o->cores, several = 0;
	memset(there, 0, sizeof(*there) * (size_t)n);
	there[device[t->producer]] = true;
	for (int r = 0; r < t->nreaders; r++)
		there[device[g->readers[t->first_reader + r]]] = true;
	for (int d = 0; d < n; d++)
		several += there[d];
	for (int d = 0; d < o->accelerators && several > 1; d++)
		if (there[d])
			load[d] += o->transfer_ns[i];
}

int64_t *load_of(arena *a, const cost_graph *g, const load_options *o,
		 const int *device)
{
	int n = o->accelerators + o->cores;
	int64_t *load = ARENA_ARRAY(a, int64_t, n);
	bool *there = ARENA_ARRAY(a, bool, n);
	for (int v = 0; v < g->nops; v++)
		load[device[v]] += device[v] < o->accelerators ?
			g->ops[v].ns : g->ops[v].core_ns;
	for (int i = 0; i < g->nresults; i++)
		add_transfer(g, o, i, device, there, load);
	return load;
}

/* ---- bounds ------------------------------------------------------------- */

typedef struct gain {
	int64_t ns, core_ns;
} gain;

/* Orders by how much a core does per time, most first. */
static int by_ratio(const void *x, const void *y)
{
	const gain *a = x, *b = y;
	double p = (double)a->core_ns * (double)b->ns;
	double q = (double)b->core_ns * (double)a->ns;
	return (p > q) - (p < q);
}

/* Whether accelerators and cores with time t each can do all the work, if it
 * may be divided arbitrarily. */
static bool enough(const gain *g, int n, int64_t total, const load_options *o,
		   double t)
{
	double left = (double)total, room = t * o->cores;
	for (int i = 0; i < n && room >= 0; i++) {
		double take = (double)g[i].core_ns;
		if (take <= room)
			left -= (double)g[i].ns;
		else
			left -= (double)g[i].ns * room / take;
		room -= take;
	}
	return left <= t * o->accelerators;
}

int64_t load_bound(const groups *r, const load_options *o)
{
	arena *own = arena_new();
	gain *g = ARENA_ARRAY(own, gain, r->n);
	int64_t longest = 0, total = 0, lo = 0, hi;
	int n = 0;
	for (int v = 0; v < r->n; v++) {
		bool core = o->cores > 0 && r->core_ns[v] < r->ns[v];
		int64_t t = core ? r->core_ns[v] : r->ns[v];
		if (t > longest)
			longest = t;
		total += r->ns[v];
		if (r->ns[v] > 0)
			g[n++] = (gain){ r->ns[v], r->core_ns[v] };
	}
	if (n > 1)
		qsort(g, (size_t)n, sizeof(*g), by_ratio);
	hi = total;
	/* Find the least sufficient integer, minus one for rounding. */
	while (lo < hi) {
		int64_t mid = lo + (hi - lo) / 2;
		if (enough(g, n, total, o, (double)mid))
			hi = mid;
		else
			lo = mid + 1;
	}
	arena_free(own);
	lo -= lo > 0;
	return longest > lo ? longest : lo;
}

/* ---- contiguous splits -------------------------------------------------- */

static int limit_of(const groups *r, const load_options *o)
{
	int64_t k = o->accelerators < r->n ? o->accelerators : r->n;
	int64_t c = o->cores < r->n ? o->cores : r->n;
	int64_t n = LOAD_MAX_CELLS / ((k + 1) * (c + 1));
	return (int)(n < LOAD_MAX_IDEALS ? n : LOAD_MAX_IDEALS);
}

/* The result for one grouping: the least load, whether it is proven, and the
 * device of each operator. */
typedef struct attempt {
	int64_t ns; /* LOAD_NONE if nothing fits */
	bool proven;
	int ngroups, nideals;
	int *device;
} attempt;

/* Finds the least load over one grouping: over the prefixes of one order, then
 * below that over all ideals. */
static attempt try_groups(arena *a, const cost_graph *g, const load_options *o,
			  const groups *r)
{
	arena *own = arena_new();
	precedence p = { r->n, r->first_before, r->before };
	int *device = ARENA_ARRAY(own, int, r->n);
	int limit = limit_of(r, o);
	attempt t = { .ns = LOAD_NONE, .ngroups = r->n };
	t.device = ARENA_ARRAY(a, int, g->nops);
	if (r->n < limit)
		t.ns = load_chain(r, ideals_prefixes(own, &p), o, LOAD_NONE - 1,
				  device);
	const ideals *all = ideals_all(own, &p, limit);
	if (all) {
		int64_t most = t.ns == LOAD_NONE ? t.ns - 1 : t.ns;
		int64_t ns = load_chain(r, all, o, most, device);
		t.proven = !deadline_is_over(o->deadline);
		t.nideals = all->n;
		if (ns != LOAD_NONE)
			t.ns = ns;
	}
	for (int v = 0; v < g->nops; v++)
		t.device[v] = device[r->of[v]];
	arena_free(own);
	return t;
}

static bool fits(const cost_graph *g, const load_options *o, const int *device)
{
	arena *own = arena_new();
	int64_t *nbytes = ARENA_ARRAY(own, int64_t, o->accelerators + o->cores);
	bool all = true;
	for (int v = 0; v < g->nops; v++)
		nbytes[device[v]] += o->nbytes[v];
	for (int d = 0; d < o->accelerators; d++)
		all = all && nbytes[d] <= o->memory_nbytes;
	arena_free(own);
	return all;
}

static attempt try_graph(arena *a, const cost_graph *g, const load_options *o,
			 bool join)
{
	arena *own = arena_new();
	group_options how = { o->transfer_ns, o->nbytes,
			      o->cores > 0, true, join };
	attempt t = try_groups(a, g, o, groups_new(own, g, &how));
	arena_free(own);
	return t;
}

/* Groups that take no time are joined with neighbours, which is never worse
 * unless memory is short.  So the limit is ignored first.  If the result fits,
 * it is the least load; otherwise it is a bound. */
const load_result *load_contiguous(arena *a, const cost_graph *g,
				   const load_options *o)
{
	load_result *r = ARENA_NEW(a, load_result);
	arena *own = arena_new();
	load_options free_of = *o;
	group_options how = { o->transfer_ns, o->nbytes,
			      o->cores > 0, true, false };
	free_of.memory_nbytes = INT64_MAX;
	attempt t = try_graph(a, g, &free_of, true), u;
	r->bound_ns = t.proven ? t.ns :
		load_bound(groups_new(own, g, &how), o);
	if ((t.ns == LOAD_NONE || !fits(g, o, t.device)) &&
	    !deadline_is_over(o->deadline)) {
		t = try_graph(a, g, o, false);
		u = t.proven ? t : try_graph(a, g, o, true);
		if (u.ns < t.ns)
			t = u;
		if (t.proven && u.ns == t.ns && t.ns != LOAD_NONE)
			r->bound_ns = t.ns;
	}
	if (t.ns != LOAD_NONE && !fits(g, o, t.device))
		t.ns = LOAD_NONE;
	r->ns = t.ns;
	r->optimal = r->bound_ns == t.ns;
	r->ngroups = t.ngroups;
	r->nideals = t.nideals;
	r->device = t.device;
	arena_free(own);
	return t.ns == LOAD_NONE ? NULL : r;
}
