/* m-SCT of Baechi (Jeon et al., SoCC 2020): m-ETF with favourite children.
 *
 * Favourites are as in Hanen and Munier (1995): each operator has at most one
 * child as its favourite, and is the favourite of at most one parent.  They are
 * chosen so that the longest path is as short as possible if no result moves
 * from an operator to its favourite.  Relaxed, with fractional favourites y:
 *
 *	least end
 *	start(c) >= start(v) + time(v) + (1 - y(e)) move(e)   for each edge e
 *	end >= start(v) + time(v)
 *	sum of y(e) over edges from v <= 1, over edges to v <= 1
 *
 * A child with a fraction of more than nine tenths is a favourite.  Among the
 * solutions one with a greatest sum of fractions is taken: all fractions
 * together weigh a thousandth of the longest path. */
#include "config.h"

#include "compiler/placement/interior.h"
#include "compiler/placement/task.h"

#include "base/vec.h"

enum { STEP = 10000000 }; /* multiplications in one step of the program */

/* The linear program while it is made.  Variables are the starts of operators,
 * the end, and the fractions of edges. */
typedef struct rows {
	arena *a;
	VEC(int) first, column;
	VEC(double) value, bound;
} rows;

static void add_entry(rows *r, int column, double value)
{
	vec_push(r->a, &r->column, column);
	vec_push(r->a, &r->value, value);
}

/* Ends a row: the entries since the last row add up to at least `bound'. */
static void end_row(rows *r, double bound)
{
	vec_push(r->a, &r->bound, bound);
	vec_push(r->a, &r->first, r->column.n);
}

/* The longest path without favourites; in this unit all times are between 0 and
 * 1. */
static double unit_of_time(const machine *m)
{
	arena *a = arena_new();
	const int64_t *rank = place_ranks(a, m, place_mean_move);
	int64_t most = 1;
	for (int v = 0; v < m->g->nops; v++)
		most = rank[v] > most ? rank[v] : most;
	arena_free(a);
	return 1 / (double)most;
}

static void add_edges(rows *r, const machine *m, double unit)
{
	const cost_graph *g = m->g;
	int end = g->nops, part = g->nops + 1;
	for (int v = 0; v < g->nops; v++) {
		double ns = unit * (double)place_mean_ns(m, v);
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++) {
			double move = unit *
				(double)place_mean_move(m, g->succ[e].result);
			add_entry(r, g->succ[e].op, 1);
			add_entry(r, v, -1);
			add_entry(r, part + e, move);
			end_row(r, ns + move);
		}
		if (g->first_succ[v] == g->first_succ[v + 1]) {
			add_entry(r, end, 1);
			add_entry(r, v, -1);
			end_row(r, ns);
		}
	}
}

/* The edges to each operator, as numbers in g->succ. */
static int *edges_to(arena *a, const cost_graph *g)
{
	int *at = ARENA_ARRAY(a, int, g->nops);
	int *list = ARENA_ARRAY(a, int, g->nedges);
	for (int e = 0; e < g->nedges; e++) {
		int v = g->succ[e].op;
		list[g->first_pred[v] + at[v]++] = e;
	}
	return list;
}

static void add_parts(rows *r, const cost_graph *g)
{
	const int *to = edges_to(r->a, g);
	int part = g->nops + 1;
	for (int v = 0; v < g->nops; v++) {
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++)
			add_entry(r, part + e, -1);
		if (g->first_succ[v] < g->first_succ[v + 1])
			end_row(r, -1);
		for (int i = g->first_pred[v]; i < g->first_pred[v + 1]; i++)
			add_entry(r, part + to[i], -1);
		if (g->first_pred[v] < g->first_pred[v + 1])
			end_row(r, -1);
	}
}

int *place_program_favourites(arena *a, const machine *m)
{
	const cost_graph *g = m->g;
	arena *work = arena_new();
	int end = g->nops, part = g->nops + 1, n = part + g->nedges;
	int *favourite = NULL;
	double *cost = ARENA_ARRAY(work, double, n);
	rows r = { .a = work };
	vec_push(work, &r.first, 0);
	add_edges(&r, m, unit_of_time(m));
	add_parts(&r, g);
	cost[end] = 1;
	for (int e = 0; e < g->nedges; e++)
		cost[part + e] = -1e-3 / g->nedges;
	linear_program p = { r.bound.n, n, r.first.at, r.column.at, r.value.at,
			     r.bound.at, cost };
	const double *x = interior_solve(work, &p, STEP);
	if (x)
		favourite = ARENA_ARRAY(a, int, g->nops);
	for (int v = 0; v < g->nops && x; v++) {
		favourite[v] = -1;
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++)
			if (x[part + e] > 0.9)
				favourite[v] = e;
	}
	arena_free(work);
	return favourite;
}

int *place_msct(arena *a, const place_task *t)
{
	arena *work = arena_new();
	const int *favourite = place_program_favourites(work, t->m);
	if (!favourite)
		favourite = place_path_favourites(work, t->m);
	int *place = place_earliest(a, t, favourite);
	arena_free(work);
	return place;
}
