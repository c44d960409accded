/* ParDNN (Qararyah, Wahib, Dikbayir, Belviranli, Unat, Parallel Computing
 * 2021).  Slicing and mapping are in slice.h.  Here are the refinement on
 * emulated schedules, and the step that fits devices into their memory.
 *
 * The judge emulates the schedule, including ports and lifetimes, and a move is
 * kept if the judge finds it better.  The authors' program emulates operators
 * in the order of a queue. */
#include "config.h"

#include "compiler/placement/improve.h"
#include "compiler/placement/slice.h"

#include <stdlib.h>

#include "base/vec.h"

enum {
	WORK = 4000000, /* operators and edges emulated in refinement */
	ROUNDS = 64,	/* rounds of the memory step */
};

typedef struct refiner {
	const place_task *t;
	const machine *m;
	const cost_graph *g;
	const place_slices *s;
	int *place;
	place_cost cost;
	int64_t *nbytes; /* resident, by device */
	int64_t left;	 /* emulations */
	int *old;	 /* devices of nops operators, to undo a move */
} refiner;

/* ---- moves --------------------------------------------------------------- */

static void move_unit(refiner *r, int u, int to)
{
	const place_task *t = r->t;
	for (int i = t->first_member[u]; i < t->first_member[u + 1]; i++) {
		int v = t->member[i];
		r->nbytes[r->place[v]] -= r->m->resident[v];
		r->nbytes[to] += r->m->resident[v];
		r->place[v] = to;
	}
}

/* Moves the units of some operators.  Undoes this unless the cost is less. */
static bool try_move(refiner *r, const int *ops, int n, int to)
{
	int *old = r->old;
	if (r->left <= 0)
		return false;
	for (int i = 0; i < n; i++) {
		old[i] = r->place[ops[i]];
		move_unit(r, r->t->unit_of[ops[i]], to);
	}
	r->left--;
	place_cost new = { INT64_MAX, INT64_MAX };
	if (r->nbytes[to] <= r->m->limit[to])
		new = place_cost_of(r->t, r->place);
	bool better = place_cost_less(new, r->cost);
	if (better)
		r->cost = new;
	for (int i = n; i-- > 0 && !better;)
		move_unit(r, r->t->unit_of[ops[i]], old[i]);
	return better;
}

/* ---- the critical path --------------------------------------------------- */

typedef struct crossing {
	int from, to; /* operators on two devices */
} crossing;

typedef VEC(crossing) crossings;

typedef struct begun {
	int64_t begin;
	int op;
} begun;

static int by_begin(const void *a, const void *b)
{
	const begun *x = a, *y = b;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

/* By operator: the one before it on its device; -1. */
static int *before_on_device(arena *a, const refiner *r, const verdict *v)
{
	int n = r->g->nops, *before = ARENA_ARRAY(a, int, n);
	int *last = ARENA_ARRAY(a, int, r->m->ndevices);
	begun *list = ARENA_ARRAY(a, begun, n);
	for (int i = 0; i < n; i++)
		list[i] = (begun){ v->begin[i], i };
	qsort(list, (size_t)n, sizeof(*list), by_begin);
	for (int i = 0; i < n; i++) {
		int op = list[i].op, d = r->place[op];
		before[op] = last[d] - 1;
		last[d] = op + 1;
	}
	return before;
}

/* The operator whose result `op' waited for last, and in *by the transfer that
 * brought it (-1 on the same device).  -1 if `op' did not wait. */
static int last_operand(const refiner *r, const verdict *v, int op, int *by)
{
	const cost_graph *g = r->g;
	int64_t latest = -1;
	int best = -1;
	for (int e = g->first_pred[op]; e < g->first_pred[op + 1]; e++) {
		int u = g->pred[e].op, t = v->first_transfer[g->pred[e].result];
		bool here = r->place[u] == r->place[op];
		while (!here && v->transfers[t].to != r->place[op])
			t++;
		int64_t at = here ? v->end[u] : v->transfers[t].end;
		if (at > latest) {
			latest = at;
			best = u;
			*by = here ? -1 : t;
		}
	}
	return latest == v->begin[op] ? best : -1;
}

static int sender(const refiner *r, const verdict *v, int t)
{
	return r->place[r->g->results[v->transfers[t].result].producer];
}

typedef struct ended {
	int64_t end;
	int transfer;
} ended;

static int by_end(const void *a, const void *b)
{
	const ended *x = a, *y = b;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->transfer > y->transfer) - (x->transfer < y->transfer);
}

static ended *list_ended(arena *a, const verdict *v)
{
	ended *list = ARENA_ARRAY(a, ended, v->ntransfers);
	for (int t = 0; t < v->ntransfers; t++)
		list[t] = (ended){ v->transfers[t].end, t };
	qsort(list, (size_t)v->ntransfers, sizeof(*list), by_end);
	return list;
}

/* The transfer that occupied a port of t until t began; -1 if t did not
 * wait. */
static int blocker(const refiner *r, const verdict *v, const ended *list, int t)
{
	const transfer *x = &v->transfers[t];
	int low = 0, high = v->ntransfers;
	if (!r->m->ports ||
	    x->begin == v->end[r->g->results[x->result].producer])
		return -1;
	while (low < high) {
		int mid = (low + high) / 2;
		if (list[mid].end < x->begin)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < v->ntransfers && list[low].end == x->begin; low++) {
		int o = list[low].transfer;
		if (o != t && (v->transfers[o].to == x->to ||
			       sender(r, v, o) == sender(r, v, t)))
			return o;
	}
	return -1;
}

/* The most urgent reader of a transfer's result on its device. */
static int reader_of(const refiner *r, const verdict *v, int t)
{
	const cost_result *x = &r->g->results[v->transfers[t].result];
	const int *reader = r->g->readers + x->first_reader;
	int best = -1;
	for (int i = 0; i < x->nreaders; i++)
		if (r->place[reader[i]] == v->transfers[t].to &&
		    (best < 0 || v->level[reader[i]] > v->level[best]))
			best = reader[i];
	return best;
}

/* Lists the transfers on the critical path, last first, each with those before
 * it for which it waited at a port.  Returns the operator before all of
 * them. */
static int trace_transfers(arena *a, const refiner *r, const verdict *v,
			   const ended *list, int t, crossings *found)
{
	int u = -1;
	for (int steps = 0; t >= 0 && steps < v->ntransfers; steps++) {
		u = r->g->results[v->transfers[t].result].producer;
		vec_push(a, found, ((crossing){ u, reader_of(r, v, t) }));
		t = blocker(r, v, list, t);
	}
	return u;
}

/* Lists the results on the critical path that move between devices, last
 * first. */
static void trace(arena *a, const refiner *r, crossings *found)
{
	verdict v = judge_run(r->t->j, r->place, INT64_MAX);
	const int *before = before_on_device(a, r, &v);
	const ended *list = list_ended(a, &v);
	int op = 0, steps = 0;
	for (int i = 1; i < r->g->nops; i++)
		if (v.end[i] > v.end[op])
			op = i;
	while (op >= 0 && steps++ < r->g->nops) {
		int by = -1, u = last_operand(r, &v, op, &by);
		if (by >= 0)
			u = trace_transfers(a, r, &v, list, by, found);
		op = u >= 0 ? u : before[op];
	}
}

/* The part of an operator's path that is on its device. */
static int path_on_device(const refiner *r, int op, int *list)
{
	int n = 0, path = r->s->of[op];
	for (int i = r->s->first[path]; i < r->s->first[path + 1]; i++)
		if (r->place[r->s->member[i]] == r->place[op])
			list[n++] = r->s->member[i];
	return n;
}

/* Moves the reader or the sender of a transfer on the critical path to the
 * other's device, with its path or alone.  Returns whether that helped. */
static bool refine_crossing(refiner *r, crossing c, int *list)
{
	if (r->place[c.from] == r->place[c.to])
		return false;
	int n = path_on_device(r, c.to, list);
	if (try_move(r, list, n, r->place[c.from]))
		return true;
	n = path_on_device(r, c.from, list);
	return try_move(r, list, n, r->place[c.to]) ||
	       try_move(r, &c.to, 1, r->place[c.from]) ||
	       try_move(r, &c.from, 1, r->place[c.to]);
}

static void refine(refiner *r)
{
	arena *a = arena_new();
	int *list = ARENA_ARRAY(a, int, r->g->nops);
	r->old = ARENA_ARRAY(a, int, r->g->nops);
	r->left = WORK / (r->g->nops + r->g->nedges) + 1;
	for (bool better = true; better && r->left > 0;) {
		arena *work = arena_new();
		crossings found = { 0 };
		trace(work, r, &found);
		r->left--;
		better = false;
		for (int i = 0; i < found.n && !place_is_late(r->t); i++)
			better |= refine_crossing(r, found.at[i], list);
		arena_free(work);
	}
	arena_free(a);
}

/* ---- memory -------------------------------------------------------------- */

typedef struct candidate {
	double value; /* bytes that leave per transfer that is added */
	int unit;
} candidate;

static int by_value(const void *a, const void *b)
{
	const candidate *x = a, *y = b;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

/* The value of moving a unit: bytes that it keeps on its device, including its
 * results where these count, and the time of the results exchanged within the
 * device. */
static candidate weigh_unit(const refiner *r, int u, int64_t *nbytes)
{
	const cost_graph *g = r->g;
	const place_task *t = r->t;
	double ns = 0;
	*nbytes = t->unit_nbytes[u];
	for (int i = t->first_member[u]; i < t->first_member[u + 1]; i++) {
		int v = t->member[i];
		for (int q = g->first_result[v];
		     r->m->lifetimes && q < g->first_result[v + 1]; q++)
			*nbytes += g->results[q].nbytes;
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++)
			if (r->place[g->succ[e].op] == r->place[v])
				ns += (double)place_mean_move(
					r->m, g->succ[e].result);
		for (int e = g->first_pred[v]; e < g->first_pred[v + 1]; e++)
			if (r->place[g->pred[e].op] == r->place[v])
				ns += (double)place_mean_move(
					r->m, g->pred[e].result);
	}
	return (candidate){ ((double)*nbytes + 0.1) / (ns + 1), u };
}

/* The device with room that has the lowest peak; -1. */
static int lowest_peak(const refiner *r, const int64_t *peak, int64_t nbytes)
{
	int best = -1;
	for (int d = 0; d < r->m->ndevices; d++)
		if (nbytes <= r->m->limit[d] - peak[d] &&
		    (best < 0 || peak[d] < peak[best]))
			best = d;
	return best;
}

/* Moves units away from device d until its peak is expected within the limit.
 * Returns whether one was moved. */
static bool unload(refiner *r, int d, int64_t *peak)
{
	arena *a = arena_new();
	candidate *list = ARENA_ARRAY(a, candidate, r->t->nunits);
	int64_t *nbytes = ARENA_ARRAY(a, int64_t, r->t->nunits);
	int n = 0;
	bool moved = false;
	for (int u = 0; u < r->t->nunits; u++) {
		int v = r->t->member[r->t->first_member[u]];
		if (r->place[v] != d)
			continue;
		list[n] = weigh_unit(r, u, &nbytes[u]);
		n += nbytes[u] > 0;
	}
	qsort(list, (size_t)n, sizeof(*list), by_value);
	for (int i = 0; i < n && peak[d] > r->m->limit[d]; i++) {
		int u = list[i].unit, to = lowest_peak(r, peak, nbytes[u]);
		if (to < 0 || to == d)
			continue;
		move_unit(r, u, to);
		peak[to] += nbytes[u];
		peak[d] -= nbytes[u];
		moved = true;
	}
	arena_free(a);
	return moved;
}

/* Alternates between emulating and unloading devices that need too much. */
static void fit_memory(refiner *r)
{
	int k = r->m->ndevices;
	for (int round = 0; round < ROUNDS; round++) {
		arena *a = arena_new();
		verdict v = judge_run(r->t->j, r->place, INT64_MAX);
		int64_t *peak = ARENA_COPY(a, v.peak, k);
		bool moved = false;
		for (int d = 0; d < k; d++)
			if (peak[d] > r->m->limit[d])
				moved |= unload(r, d, peak);
		arena_free(a);
		if (!moved)
			break;
	}
}

/* ---- all ----------------------------------------------------------------- */

/* Brings the members of a unit together where they spend most of their time. */
static void collocate(refiner *r)
{
	const place_task *t = r->t;
	arena *a = arena_new();
	int64_t *ns = ARENA_ARRAY(a, int64_t, r->m->ndevices);
	for (int u = 0; u < t->nunits; u++) {
		int best = r->place[t->member[t->first_member[u]]];
		for (int i = t->first_member[u]; i < t->first_member[u + 1];
		     i++)
			ns[r->place[t->member[i]]] = 0;
		for (int i = t->first_member[u]; i < t->first_member[u + 1];
		     i++) {
			int v = t->member[i], d = r->place[v];
			ns[d] += 1 + machine_ns(r->m, v, d);
			best = ns[d] > ns[best] ? d : best;
		}
		move_unit(r, u, best);
	}
	arena_free(a);
}

int *place_pardnn(arena *a, const place_task *t)
{
	arena *work = arena_new();
	int n = t->m->g->nops, *place = ARENA_ARRAY(a, int, n);
	place_slices s = place_slice(work, t->m);
	refiner r = { .t = t, .m = t->m, .g = t->m->g, .s = &s, .place = place,
		      .nbytes = ARENA_ARRAY(work, int64_t, t->m->ndevices) };
	place_map_slices(t->m, &s, place);
	for (int v = 0; v < n; v++)
		r.nbytes[place[v]] += t->m->resident[v];
	collocate(&r);
	fit_memory(&r);
	r.cost = place_cost_of(t, place);
	refine(&r);
	arena_free(work);
	return r.cost.overflow == 0 ? place : NULL;
}
