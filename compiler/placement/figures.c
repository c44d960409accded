#include "config.h"

#include "compiler/placement/figures.h"

#include <assert.h>

/* ---- loads --------------------------------------------------------------- */

/* The longest time that a result takes between two of its devices. */
static int64_t longest_move(const machine *m, int result)
{
	int64_t most = 0;
	for (int l = 0; l < m->nlevels; l++)
		if (m->move[l][result] > most)
			most = m->move[l][result];
	return most;
}

int64_t *place_loads(arena *a, const machine *m, const int *place,
		     int ndevices)
{
	const cost_graph *g = m->g;
	arena *work = arena_new();
	int64_t *load = ARENA_ARRAY(a, int64_t, ndevices);
	int *seen = ARENA_ARRAY(work, int, ndevices);
	for (int v = 0; v < g->nops; v++) {
		assert(place[v] < ndevices);
		load[place[v]] += place[v] < m->ndevices ?
					  machine_ns(m, v, place[v]) :
					  g->ops[v].core_ns;
	}
	for (int r = 0; r < g->nresults; r++) {
		const cost_result *x = &g->results[r];
		int from = place[x->producer];
		int64_t ns = longest_move(m, r);
		for (int i = 0; i < x->nreaders; i++) {
			int d = place[g->readers[x->first_reader + i]];
			if (d == from || seen[d] == r + 1)
				continue;
			seen[d] = r + 1;
			load[d] += d < m->ndevices ? ns : 0;
			if (seen[from] != r + 1 && from < m->ndevices)
				load[from] += ns;
			seen[from] = r + 1;
		}
	}
	arena_free(work);
	return load;
}

/* ---- bounds -------------------------------------------------------------- */

static int64_t fastest_ns(const machine *m, int op)
{
	int64_t least = m->ns[0][op];
	for (int c = 1; c < m->nspeeds; c++)
		if (m->ns[c][op] < least)
			least = m->ns[c][op];
	return least;
}

typedef struct paths {
	int64_t *before; /* longest path to an operator's end */
	int64_t *behind; /* longest path from its begin */
} paths;

static paths find_paths(arena *a, const machine *m)
{
	const cost_graph *g = m->g;
	paths p = { ARENA_ARRAY(a, int64_t, g->nops),
		    ARENA_ARRAY(a, int64_t, g->nops) };
	for (int i = 0; i < g->nops; i++) {
		int v = g->order[i];
		for (int e = g->first_pred[v]; e < g->first_pred[v + 1]; e++)
			if (p.before[g->pred[e].op] > p.before[v])
				p.before[v] = p.before[g->pred[e].op];
		p.before[v] += fastest_ns(m, v);
	}
	for (int i = g->nops; i-- > 0;) {
		int v = g->order[i];
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++)
			if (p.behind[g->succ[e].op] > p.behind[v])
				p.behind[v] = p.behind[g->succ[e].op];
		p.behind[v] += fastest_ns(m, v);
	}
	return p;
}

/* The root of an operator's connected component. */
static int root_of(int *part, int v)
{
	while (part[v] != v)
		v = part[v] = part[part[v]];
	return v;
}

static int64_t cut_bound(arena *a, const machine *m, const paths *p)
{
	const cost_graph *g = m->g;
	int n = g->nops, *part = ARENA_ARRAY(a, int, n);
	int64_t *alone = ARENA_ARRAY(a, int64_t, n);
	int64_t *nbytes = ARENA_ARRAY(a, int64_t, n);
	int64_t *cut = ARENA_ARRAY(a, int64_t, n), greatest = 0;
	for (int v = 0; v < n; v++) {
		part[v] = v;
		cut[v] = INT64_MAX;
	}
	for (int v = 0; v < n; v++)
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++)
			part[root_of(part, v)] = root_of(part, g->succ[e].op);
	for (int v = 0; v < n; v++) {
		int c = root_of(part, v);
		alone[c] += fastest_ns(m, v);
		nbytes[c] += m->resident[v];
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++) {
			int64_t t = p->before[v] + p->behind[g->succ[e].op] +
				    machine_least_move(m, g->succ[e].result);
			cut[c] = t < cut[c] ? t : cut[c];
		}
	}
	for (int c = 0; c < n; c++) {
		int64_t least = cut[c];
		bool apart = m->ndevices > 1 && nbytes[c] > m->most_limit;
		if (part[c] != c || (apart && least == INT64_MAX))
			continue;
		if (m->ndevices == 1 || (!apart && alone[c] < least))
			least = alone[c];
		greatest = least > greatest ? least : greatest;
	}
	return greatest;
}

static int64_t work_bound(const machine *m)
{
	const cost_graph *g = m->g;
	__int128 sum = 0;
	for (int v = 0; v < g->nops; v++)
		sum += fastest_ns(m, v);
	return (int64_t)((sum + m->ndevices - 1) / m->ndevices);
}

place_bounds place_bound(const machine *m)
{
	arena *work = arena_new();
	paths p = find_paths(work, m);
	place_bounds b = { .work = work_bound(m),
			   .cut = cut_bound(work, m, &p) };
	for (int v = 0; v < m->g->nops; v++)
		if (p.behind[v] > b.path)
			b.path = p.behind[v];
	b.greatest = b.path > b.work ? b.path : b.work;
	b.greatest = b.cut > b.greatest ? b.cut : b.greatest;
	arena_free(work);
	return b;
}
