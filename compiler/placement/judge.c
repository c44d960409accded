#include "config.h"

#include "compiler/placement/judge.h"

#include <assert.h>
#include <string.h>

/* An event of an operator or, from nops on, of a transfer. */
typedef struct event {
	int64_t time;
	int what;
} event;

typedef struct pair {
	int from, to;
	int next_from, next_to; /* in the lists of its devices; -1 */
	int waiting;		/* transfers, as a heap */
	bool is_changed;
} pair;

struct judge {
	const machine *m;
	const cost_graph *g;
	const int *place;
	int64_t now, most;
	int64_t *level, *begin, *end;
	int *need; /* by operator: results that are missing */

	transfer *transfers;
	int *first_transfer, ntransfers;
	int *mark; /* by device */

	/* Pairing heaps (Fredman et al. 1986) as trees.  Items are operators or
	 * transfers; -1 is none. */
	int *op_child, *op_next, *ready; /* ready: [device] */
	int *move_child, *move_next;
	bool *busy, *sends, *receives;
	/* Devices that may begin an operator; devices that hold more than
	 * before. */
	int *idle, nidle, *grown, ngrown;
	bool *is_idle, *is_grown;

	/* Pairs of devices with transfers from the first to the second. */
	pair *pairs;
	int npairs, *pair_of;	   /* by transfer */
	int *pair_at;		   /* at [from * k + to] if it is a pair */
	int *first_from, *first_to; /* by device: lists of its pairs; -1 */
	int *changed, nchanged;	   /* pairs that may begin a transfer */

	event *running; /* a binary heap */
	int nrunning;

	int64_t *held, *peak, *resident, *work; /* by device */
	/* by result on its own device: readers and transfers */
	int *users;
	int *copy_users; /* by transfer */
};

judge *judge_new(arena *a, const machine *m)
{
	const cost_graph *g = m->g;
	int n = g->nops, k = m->ndevices, most = g->nedges;
	judge *j = ARENA_NEW(a, judge);
	j->m = m;
	j->g = g;
	j->level = ARENA_ARRAY(a, int64_t, n);
	j->begin = ARENA_ARRAY(a, int64_t, n);
	j->end = ARENA_ARRAY(a, int64_t, n);
	j->need = ARENA_ARRAY(a, int, n);
	j->transfers = ARENA_ARRAY(a, transfer, most);
	j->first_transfer = ARENA_ARRAY(a, int, g->nresults + 1);
	j->mark = ARENA_ARRAY(a, int, k);
	j->op_child = ARENA_ARRAY(a, int, n);
	j->op_next = ARENA_ARRAY(a, int, n);
	j->ready = ARENA_ARRAY(a, int, k);
	j->move_child = ARENA_ARRAY(a, int, most);
	j->move_next = ARENA_ARRAY(a, int, most);
	int npairs = most < k * k ? most : k * k;
	j->pairs = ARENA_ARRAY(a, pair, npairs);
	j->changed = ARENA_ARRAY(a, int, npairs);
	j->pair_of = ARENA_ARRAY(a, int, most);
	j->pair_at = ARENA_ARRAY(a, int, k * k);
	j->first_from = ARENA_ARRAY(a, int, k);
	j->first_to = ARENA_ARRAY(a, int, k);
	j->idle = ARENA_ARRAY(a, int, k);
	j->grown = ARENA_ARRAY(a, int, k);
	j->is_idle = ARENA_ARRAY(a, bool, k);
	j->is_grown = ARENA_ARRAY(a, bool, k);
	j->busy = ARENA_ARRAY(a, bool, k);
	j->sends = ARENA_ARRAY(a, bool, k);
	j->receives = ARENA_ARRAY(a, bool, k);
	j->running = ARENA_ARRAY(a, event, k + most);
	j->held = ARENA_ARRAY(a, int64_t, k);
	j->peak = ARENA_ARRAY(a, int64_t, k);
	j->resident = ARENA_ARRAY(a, int64_t, k);
	j->work = ARENA_ARRAY(a, int64_t, k);
	j->users = ARENA_ARRAY(a, int, g->nresults);
	j->copy_users = ARENA_ARRAY(a, int, most);
	return j;
}

/* ---- levels and transfers ------------------------------------------------ */

static void find_levels(judge *j)
{
	const cost_graph *g = j->g;
	for (int i = g->nops; i-- > 0;) {
		int v = g->order[i], d = j->place[v];
		int64_t most = 0;
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++) {
			int c = g->succ[e].op;
			int64_t t = j->level[c] +
				    machine_move(j->m, g->succ[e].result, d,
						 j->place[c]);
			most = t > most ? t : most;
		}
		j->level[v] = machine_ns(j->m, v, d) + most;
	}
}

/* Lists the transfers of a result, receivers in ascending order. */
static void list_transfers(judge *j, int r)
{
	const cost_result *x = &j->g->results[r];
	int first = j->ntransfers, from = j->place[x->producer];
	j->first_transfer[r] = first;
	j->users[r] = 0;
	for (int i = 0; i < x->nreaders; i++) {
		int c = j->g->readers[x->first_reader + i], to = j->place[c];
		int at = j->ntransfers;
		if (to == from) {
			j->users[r]++;
			continue;
		}
		if (j->mark[to] > first) {
			transfer *t = &j->transfers[j->mark[to] - 1];
			if (j->level[c] > t->level)
				t->level = j->level[c];
			j->copy_users[j->mark[to] - 1]++;
			continue;
		}
		while (at > first && j->transfers[at - 1].to > to) {
			j->transfers[at] = j->transfers[at - 1];
			j->copy_users[at] = j->copy_users[at - 1];
			j->mark[j->transfers[at].to] = at + 1;
			at--;
		}
		j->transfers[at] = (transfer){ r, to, j->level[c], -1, -1 };
		j->copy_users[at] = 1;
		j->mark[to] = at + 1;
		j->ntransfers++;
	}
	j->users[r] += j->ntransfers - first;
}

/* The pair of two devices.  Its entry in pair_at is valid only if that pair
 * refers back to it, so the table need not be cleared. */
static int pair_of(judge *j, int from, int to)
{
	int *at = &j->pair_at[from * j->m->ndevices + to];
	if (*at < j->npairs && j->pairs[*at].from == from &&
	    j->pairs[*at].to == to)
		return *at;
	*at = j->npairs++;
	j->pairs[*at] = (pair){ from, to, j->first_from[from],
				j->first_to[to], -1, false };
	j->first_from[from] = j->first_to[to] = *at;
	return *at;
}

/* Lists all transfers and their pairs of devices. */
static void list_all_transfers(judge *j)
{
	const cost_graph *g = j->g;
	memset(j->mark, 0, sizeof(*j->mark) * (size_t)j->m->ndevices);
	j->ntransfers = j->npairs = 0;
	for (int r = 0; r < g->nresults; r++) {
		list_transfers(j, r);
		int from = j->place[g->results[r].producer];
		for (int t = j->first_transfer[r]; t < j->ntransfers; t++)
			j->pair_of[t] = pair_of(j, from, j->transfers[t].to);
	}
	j->first_transfer[g->nresults] = j->ntransfers;
}

/* ---- heaps --------------------------------------------------------------- */

static bool op_before(const judge *j, int a, int b)
{
	return j->level[a] != j->level[b] ? j->level[a] > j->level[b] : a < b;
}

static bool move_before(const judge *j, int a, int b)
{
	int64_t x = j->transfers[a].level, y = j->transfers[b].level;
	return x != y ? x > y : a < b;
}

/* Operations on heaps of operators and of transfers. */
#define PAIRING_HEAP(name, before)                                           \
	static int name##_meld(judge *j, int a, int b)                       \
	{                                                                    \
		if (a < 0 || b < 0)                                          \
			return a < 0 ? b : a;                                \
		if (before(j, b, a)) {                                       \
			int t = a;                                           \
			a = b;                                               \
			b = t;                                               \
		}                                                            \
		j->name##_next[b] = j->name##_child[a];                      \
		j->name##_child[a] = b;                                      \
		return a;                                                    \
	}                                                                    \
	static void name##_push(judge *j, int *heap, int x)                  \
	{                                                                    \
		j->name##_child[x] = j->name##_next[x] = -1;                 \
		*heap = name##_meld(j, *heap, x);                            \
	}                                                                    \
	static int name##_pop(judge *j, int *heap)                           \
	{                                                                    \
		int top = *heap, c = j->name##_child[top], pairs = -1;       \
		while (c >= 0) {                                             \
			int d = j->name##_next[c];                           \
			int rest = d < 0 ? -1 : j->name##_next[d];           \
			int p = name##_meld(j, c, d);                        \
			j->name##_next[p] = pairs;                           \
			pairs = p;                                           \
			c = rest;                                            \
		}                                                            \
		*heap = -1;                                                  \
		while (pairs >= 0) {                                         \
			int rest = j->name##_next[pairs];                    \
			*heap = name##_meld(j, *heap, pairs);                \
			pairs = rest;                                        \
		}                                                            \
		return top;                                                  \
	}

PAIRING_HEAP(op, op_before)
PAIRING_HEAP(move, move_before)

static bool earlier(event a, event b)
{
	return a.time != b.time ? a.time < b.time : a.what < b.what;
}

static void run_until(judge *j, int64_t time, int what)
{
	event e = { time, what };
	int i = j->nrunning++;
	for (; i > 0 && earlier(e, j->running[(i - 1) / 2]); i = (i - 1) / 2)
		j->running[i] = j->running[(i - 1) / 2];
	j->running[i] = e;
}

static int first_to_end(judge *j)
{
	event *h = j->running, e = h[--j->nrunning];
	int what = h[0].what, i = 0, n = j->nrunning;
	for (int c; (c = 2 * i + 1) < n; i = c) {
		c += c + 1 < n && earlier(h[c + 1], h[c]);
		if (!earlier(h[c], e))
			break;
		h[i] = h[c];
	}
	h[i] = e;
	return what;
}

/* ---- ends ---------------------------------------------------------------- */

/* Notes that device d may begin an operator. */
static void wake(judge *j, int d)
{
	if (!j->is_idle[d])
		j->idle[j->nidle++] = d;
	j->is_idle[d] = true;
}

/* Adds nbytes to what device d holds. */
static void hold(judge *j, int d, int64_t nbytes)
{
	j->held[d] += nbytes;
	if (!j->is_grown[d])
		j->grown[j->ngrown++] = d;
	j->is_grown[d] = true;
}

/* Gives a result to its readers on device d. */
static void feed(judge *j, int r, int d)
{
	const cost_result *x = &j->g->results[r];
	wake(j, d);
	for (int i = 0; i < x->nreaders; i++) {
		int v = j->g->readers[x->first_reader + i];
		if (j->place[v] == d && --j->need[v] == 0)
			op_push(j, &j->ready[d], v);
	}
}

static void drop_user(judge *j, int r)
{
	const cost_result *x = &j->g->results[r];
	if (--j->users[r] == 0)
		j->held[j->place[x->producer]] -= x->nbytes;
}

/* Frees the operands of operator v, which has read them. */
static void drop_operands(judge *j, int v)
{
	const cost_graph *g = j->g;
	for (int e = g->first_pred[v]; e < g->first_pred[v + 1]; e++) {
		int r = g->pred[e].result, t = j->first_transfer[r];
		if (j->place[g->pred[e].op] == j->place[v]) {
			drop_user(j, r);
			continue;
		}
		while (j->transfers[t].to != j->place[v])
			t++;
		if (--j->copy_users[t] == 0)
			j->held[j->place[v]] -= g->results[r].nbytes;
	}
}

/* Notes that transfers of a pair of devices may begin. */
static void change(judge *j, int p)
{
	if (j->pairs[p].waiting >= 0 && !j->pairs[p].is_changed) {
		j->pairs[p].is_changed = true;
		j->changed[j->nchanged++] = p;
	}
}

static void end_op(judge *j, int v)
{
	const cost_graph *g = j->g;
	int d = j->place[v];
	j->busy[d] = false;
	wake(j, d);
	for (int r = g->first_result[v]; r < g->first_result[v + 1]; r++) {
		feed(j, r, d);
		for (int t = j->first_transfer[r];
		     t < j->first_transfer[r + 1]; t++) {
			int p = j->pair_of[t];
			move_push(j, &j->pairs[p].waiting, t);
			change(j, p);
		}
	}
	if (j->m->lifetimes)
		drop_operands(j, v);
}

static void end_transfer(judge *j, int t)
{
	int r = j->transfers[t].result, to = j->transfers[t].to;
	int from = j->pairs[j->pair_of[t]].from;
	j->sends[from] = j->receives[to] = false;
	if (j->m->ports) {
		for (int p = j->first_from[from]; p >= 0;
		     p = j->pairs[p].next_from)
			change(j, p);
		for (int p = j->first_to[to]; p >= 0; p = j->pairs[p].next_to)
			change(j, p);
	}
	feed(j, r, to);
	if (j->m->lifetimes)
		drop_user(j, r);
}

/* ---- begins -------------------------------------------------------------- */

static void begin_transfer(judge *j, pair *p)
{
	int from = p->from, to = p->to;
	int t = move_pop(j, &p->waiting), r = j->transfers[t].result;
	j->sends[from] = j->receives[to] = true;
	j->transfers[t].begin = j->now;
	j->transfers[t].end = j->now + machine_move(j->m, r, from, to);
	hold(j, to, j->g->results[r].nbytes);
	run_until(j, j->transfers[t].end, j->g->nops + t);
}

/* Begins the transfers whose two ports are free, greatest level first.  Only
 * one of a pair of devices can begin, so only the first of each pair has to be
 * considered.  There are few, so they are sorted by insertion. */
static void begin_transfers(judge *j)
{
	int *c = j->changed, n = j->nchanged;
	for (int i = 0; i < n; i++) {
		int p = c[i], at = i;
		j->pairs[p].is_changed = false;
		for (; at > 0 && move_before(j, j->pairs[p].waiting,
					     j->pairs[c[at - 1]].waiting); at--)
			c[at] = c[at - 1];
		c[at] = p;
	}
	for (int i = 0; i < n; i++) {
		pair *p = &j->pairs[c[i]];
		while (!j->m->ports && p->waiting >= 0)
			begin_transfer(j, p);
		if (j->m->ports && !j->sends[p->from] && !j->receives[p->to])
			begin_transfer(j, p);
	}
	j->nchanged = 0;
}

/* Begins operators.  Returns false if the pass will take too long: what depends
 * on an operator takes at least its level. */
static bool begin_ops(judge *j)
{
	const cost_graph *g = j->g;
	while (j->nidle > 0) {
		int d = j->idle[--j->nidle];
		j->is_idle[d] = false;
		if (j->busy[d] || j->ready[d] < 0)
			continue;
		int v = op_pop(j, &j->ready[d]);
		if (j->level[v] > j->most - j->now)
			return false;
		j->busy[d] = true;
		j->begin[v] = j->now;
		j->end[v] = j->now + machine_ns(j->m, v, d);
		j->work[d] += machine_ns(j->m, v, d);
		for (int r = g->first_result[v]; r < g->first_result[v + 1];
		     r++)
			hold(j, d, g->results[r].nbytes);
		run_until(j, j->end[v], v);
	}
	return true;
}

/* ---- the pass ------------------------------------------------------------ */

static void start(judge *j, const int *place)
{
	const cost_graph *g = j->g;
	int k = j->m->ndevices;
	j->place = place;
	j->now = 0;
	j->nchanged = j->nrunning = j->nidle = j->ngrown = 0;
	for (int d = 0; d < k; d++) {
		j->ready[d] = j->first_from[d] = j->first_to[d] = -1;
		j->busy[d] = j->sends[d] = j->receives[d] = false;
		j->is_idle[d] = j->is_grown[d] = false;
		j->resident[d] = j->work[d] = j->held[d] = 0;
	}
	find_levels(j);
	list_all_transfers(j);
	for (int v = 0; v < g->nops; v++) {
		assert(place[v] >= 0 && place[v] < k);
		j->resident[place[v]] += j->m->resident[v];
		j->need[v] = g->first_pred[v + 1] - g->first_pred[v];
		if (j->need[v] == 0)
			op_push(j, &j->ready[place[v]], v);
		wake(j, place[v]);
	}
	memcpy(j->peak, j->resident, sizeof(*j->peak) * (size_t)k);
}

/* Updates the peaks at the end of an instant: bytes freed at it make room for
 * bytes needed from it on. */
static void note_peaks(judge *j)
{
	while (j->ngrown > 0) {
		int d = j->grown[--j->ngrown];
		j->is_grown[d] = false;
		if (j->resident[d] + j->held[d] > j->peak[d])
			j->peak[d] = j->resident[d] + j->held[d];
	}
}

verdict judge_run(judge *j, const int *place, int64_t most)
{
	int n = j->g->nops;
	j->most = most;
	start(j, place);
	bool good = begin_ops(j);
	while (good && j->nrunning > 0) {
		int64_t next = j->running[0].time;
		if (j->m->lifetimes && next > j->now)
			note_peaks(j);
		j->now = next;
		while (j->nrunning > 0 && j->running[0].time == next) {
			int what = first_to_end(j);
			if (what < n)
				end_op(j, what);
			else
				end_transfer(j, what - n);
		}
		begin_transfers(j);
		good = begin_ops(j);
	}
	return (verdict){ good ? j->now : INT64_MAX, j->begin, j->end,
			  j->level, j->transfers, j->first_transfer,
			  j->ntransfers, j->peak, j->resident, j->work };
}

bool judge_fits(const machine *m, const verdict *v)
{
	for (int d = 0; d < m->ndevices; d++)
		if (v->peak[d] > m->limit[d])
			return false;
	return true;
}
