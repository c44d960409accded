/* Favourite children without a linear program, for graphs where that would be
 * too large (msct.c).  Edges on the longest path are chosen, path after path.
 * If two edges contend for an operator, each counts half, and neither is a
 * favourite. */
#include "config.h"

#include "compiler/placement/task.h"

enum { WORK = 100000000 }; /* operators and edges looked at */

typedef enum part {
	NONE,
	ALL,
	HALF, /* contended for */
} part;

typedef struct program {
	const machine *m;
	const cost_graph *g;
	part *part;	 /* by edge of g->succ */
	int *out, *in;	 /* by operator: its chosen edge; -1 */
	int64_t *behind; /* by operator: longest path from its begin */
} program;

static int64_t way(const program *p, int e)
{
	int64_t ns = place_mean_move(p->m, p->g->succ[e].result);
	return p->part[e] == ALL ? 0 : p->part[e] == HALF ? ns / 2 : ns;
}

static void measure(program *p)
{
	const cost_graph *g = p->g;
	for (int i = g->nops; i-- > 0;) {
		int v = g->order[i];
		int64_t most = 0;
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++) {
			int64_t t = p->behind[g->succ[e].op] + way(p, e);
			most = t > most ? t : most;
		}
		p->behind[v] = place_mean_ns(p->m, v) + most;
	}
}

/* The edge by which a longest path continues from v; -1. */
static int next_edge(const program *p, int v)
{
	const cost_graph *g = p->g;
	int64_t rest = p->behind[v] - place_mean_ns(p->m, v);
	for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++)
		if (p->behind[g->succ[e].op] + way(p, e) == rest)
			return e;
	return -1;
}

/* Chooses edge e from v, or contends for it.  Returns whether something
 * changed. */
static bool choose(program *p, int v, int e)
{
	int *out = &p->out[v], *in = &p->in[p->g->succ[e].op];
	if (p->part[e] != NONE || way(p, e) == 0)
		return false;
	if (*out < 0 && *in < 0) {
		p->part[e] = ALL;
		*out = *in = e;
		return true;
	}
	if ((*out >= 0 && p->part[*out] == HALF) ||
	    (*in >= 0 && p->part[*in] == HALF))
		return false;
	if (*out >= 0)
		p->part[*out] = HALF;
	if (*in >= 0)
		p->part[*in] = HALF;
	p->part[e] = HALF;
	*out = *in = e;
	return true;
}

/* Walks along a longest path.  Returns whether something changed. */
static bool shorten(program *p)
{
	const cost_graph *g = p->g;
	bool changed = false;
	int v = 0;
	for (int i = 1; i < g->nops; i++)
		v = p->behind[i] > p->behind[v] ? i : v;
	for (int e; (e = next_edge(p, v)) >= 0; v = g->succ[e].op)
		changed |= choose(p, v, e);
	return changed;
}

int *place_path_favourites(arena *a, const machine *m)
{
	const cost_graph *g = m->g;
	arena *work = arena_new();
	program p = { m, g, ARENA_ARRAY(work, part, g->nedges),
		      ARENA_ARRAY(a, int, g->nops),
		      ARENA_ARRAY(work, int, g->nops),
		      ARENA_ARRAY(work, int64_t, g->nops) };
	for (int v = 0; v < g->nops; v++)
		p.out[v] = p.in[v] = -1;
	measure(&p);
	for (int64_t left = WORK; left > 0 && shorten(&p);
	     left -= g->nops + g->nedges)
		measure(&p);
	for (int v = 0; v < g->nops; v++)
		if (p.out[v] >= 0 && p.part[p.out[v]] != ALL)
			p.out[v] = -1;
	arena_free(work);
	return p.out;
}
