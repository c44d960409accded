#include "config.h"

#include "compiler/placement/task.h"

const place_algorithm place_algorithms[] = {
	{ "best", place_best, NULL },
	{ "single", place_single, NULL },
	{ "balanced", place_balanced, NULL },
	{ "heft", place_heft, NULL },
	{ "list", place_list, NULL },
	{ "metf", place_metf, NULL },
	{ "msct", place_msct, NULL },
	{ "pardnn", place_pardnn, NULL },
	{ "load", place_least_load, place_takes_loads },
	{ "mcap", place_least_peak, place_takes_stages },
	{ NULL, NULL, NULL },
};

/* Numbers units, and lists the members of each in ascending order. */
static void set_units(arena *a, place_task *t, bool colocation)
{
	const cost_graph *g = t->m->g;
	t->nunits = colocation ? g->ncolours : g->nops;
	t->unit_of = ARENA_ARRAY(a, int, g->nops);
	t->first_member = ARENA_ARRAY(a, int, t->nunits + 2);
	t->member = ARENA_ARRAY(a, int, g->nops);
	t->unit_nbytes = ARENA_ARRAY(a, int64_t, t->nunits);
	for (int v = 0; v < g->nops; v++) {
		int u = colocation ? g->ops[v].colour : v;
		t->unit_of[v] = u;
		t->unit_nbytes[u] += t->m->resident[v];
		t->first_member[u + 2]++;
	}
	for (int u = 0; u < t->nunits; u++)
		t->first_member[u + 2] += t->first_member[u + 1];
	for (int v = 0; v < g->nops; v++)
		t->member[t->first_member[t->unit_of[v] + 1]++] = v;
}

const place_task *place_task_new(arena *a, const machine *m, bool colocation,
				 deadline end)
{
	place_task *t = ARENA_NEW(a, place_task);
	t->m = m;
	t->j = judge_new(a, m);
	t->deadline = end;
	set_units(a, t, colocation);
	return t;
}

bool place_is_late(const place_task *t)
{
	return deadline_is_over(t->deadline);
}

/* ---- parts of algorithms ------------------------------------------------- */

int64_t place_mean_ns(const machine *m, int op)
{
	__int128 sum = 0;
	if (m->nspeeds == 1)
		return m->ns[0][op];
	for (int d = 0; d < m->ndevices; d++)
		sum += machine_ns(m, op, d);
	return (int64_t)(sum / m->ndevices);
}

/* The sum over all devices except the sender. */
static __int128 sum_of_moves(const machine *m, int result)
{
	__int128 sum = 0;
	if (m->nlevels == 1)
		return (__int128)m->move[0][result] * (m->ndevices - 1);
	for (int l = 0; l < m->nlevels; l++) {
		int within = l == 0 ? 1 : m->span[l - 1];
		sum += (__int128)m->move[l][result] * (m->span[l] - within);
	}
	return sum;
}

int64_t place_mean_move(const machine *m, int result)
{
	if (m->ndevices == 1)
		return 0;
	return (int64_t)(sum_of_moves(m, result) / (m->ndevices - 1));
}

int64_t place_expected_move(const machine *m, int result)
{
	return (int64_t)(sum_of_moves(m, result) / m->ndevices);
}

int64_t *place_ranks(arena *a, const machine *m,
		     int64_t (*move)(const machine *m, int result))
{
	const cost_graph *g = m->g;
	int64_t *rank = ARENA_ARRAY(a, int64_t, g->nops);
	for (int i = g->nops; i-- > 0;) {
		int v = g->order[i];
		int64_t most = 0;
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++) {
			int64_t t = rank[g->succ[e].op] +
				    move(m, g->succ[e].result);
			most = t > most ? t : most;
		}
		rank[v] = place_mean_ns(m, v) + most;
	}
	return rank;
}

int *place_depth_first(arena *a, const cost_graph *g)
{
	arena *work = arena_new();
	int *left = ARENA_ARRAY(work, int, g->nops);
	int *stack = ARENA_ARRAY(work, int, g->nops), nstack = 0, n = 0;
	int *order = ARENA_ARRAY(a, int, g->nops);
	for (int v = g->nops; v-- > 0;) {
		left[v] = g->first_pred[v + 1] - g->first_pred[v];
		if (left[v] == 0)
			stack[nstack++] = v;
	}
	while (nstack > 0) {
		int v = stack[--nstack];
		order[n++] = v;
		for (int e = g->first_succ[v + 1]; e-- > g->first_succ[v];)
			if (--left[g->succ[e].op] == 0)
				stack[nstack++] = g->succ[e].op;
	}
	arena_free(work);
	return order;
}

place_room place_room_new(arena *a, const place_task *t)
{
	place_room r = { t, ARENA_ARRAY(a, int, t->nunits),
			 ARENA_ARRAY(a, int64_t, t->m->ndevices) };
	for (int u = 0; u < t->nunits; u++)
		r.device[u] = -1;
	for (int d = 0; d < t->m->ndevices; d++)
		r.nbytes[d] = t->m->limit[d];
	return r;
}

void place_take_room(place_room *r, int op, int d)
{
	int u = r->t->unit_of[op];
	if (r->device[u] >= 0)
		return;
	r->device[u] = d;
	r->nbytes[d] -= r->t->unit_nbytes[u];
}
