/* The memory of a model's stages, found from its program. */
#include "config.h"

#include "compiler/placement/stage_memory.h"

#include <stdlib.h>

#include "base/checked.h"

typedef enum pass { PASS_F, PASS_B, PASS_U, NPASSES } pass;

struct stage_memory {
	const cost_graph *g;
	const int *layer;
	int nlayers;
	/* layer v has operators ops[first_op[v] .. [v + 1]) */
	int *first_op, *ops;
	pass *pass;	     /* by operator */
	/* Instants: begin[p], then the steps of pass p, for each pass. */
	int ninstants, begin[NPASSES];
	int *at;	 /* by operator */
	int end;	 /* last instant of B, or of F if B is empty */
	/* by operator: of its result; 0 if it needs no memory or is a
	 * constant */
	int64_t *nbytes;
	/* by operator: the one whose result takes over its result's place;
	 * -1 */
	int *heir;
};

static int64_t bytes_of(const cost_graph *g, int op)
{
	return g->results[g->first_result[op]].nbytes;
}

/* ---- passes -------------------------------------------------------------- */

/* Finds passes.  Updates run once, and so do operators whose results only
 * updates read. */
static void find_passes(const stage_memory *m)
{
	const cost_graph *g = m->g;
	for (int i = g->nops; i-- > 0;) {
		int v = g->order[i];
		bool once = g->ops[v].backward && g->ops[v].once;
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++)
			once &= m->pass[g->succ[e].op] == PASS_U;
		m->pass[v] = !g->ops[v].backward ? PASS_F :
			     once		 ? PASS_U :
						   PASS_B;
	}
}

typedef struct turn {
	int step, order, op;
} turn;

static int by_turn(const void *x, const void *y)
{
	const turn *a = x, *b = y;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* The operators in the program's order; those without a step come first. */
static turn *turns_of(arena *a, const cost_graph *g)
{
	turn *t = ARENA_ARRAY(a, turn, g->nops);
	for (int i = 0; i < g->nops; i++)
		t[i] = (turn){ g->ops[g->order[i]].step, i, g->order[i] };
	qsort(t, (size_t)g->nops, sizeof(*t), by_turn);
	return t;
}

/* By operator: whether it is in B and needs, directly or not, what a later
 * layer computes. */
static bool *find_late(arena *a, const stage_memory *m)
{
	const cost_graph *g = m->g;
	bool *late = ARENA_ARRAY(a, bool, g->nops);
	for (int i = 0; i < g->nops; i++) {
		int v = g->order[i], end = g->first_pred[v + 1];
		for (int e = g->first_pred[v]; e < end; e++) {
			int u = g->pred[e].op;
			late[v] |= late[u] || m->layer[u] > m->layer[v];
		}
		late[v] &= m->pass[v] == PASS_B;
	}
	return late;
}

static void set_instants(arena *own, stage_memory *m)
{
	const cost_graph *g = m->g;
	const turn *turns = turns_of(own, g);
	const bool *late = find_late(own, m);
	bool backward = false;
	for (int i = 0; i < g->nops && !late[turns[i].op]; i++)
		if (m->pass[turns[i].op] == PASS_B)
			m->pass[turns[i].op] = PASS_F;
	for (pass p = PASS_F; p < NPASSES; p++) {
		m->begin[p] = m->ninstants++;
		for (int i = 0; i < g->nops; i++)
			if (m->pass[turns[i].op] == p) {
				m->at[turns[i].op] = m->ninstants++;
				backward |= p == PASS_B;
			}
	}
	m->end = m->begin[backward ? PASS_U : PASS_B] - 1;
}

/* ---- places -------------------------------------------------------------- */

/* Whether v takes over the place of u's result as its last reader. */
static bool takes_over(const stage_memory *m, int v, int u)
{
	const cost_graph *g = m->g;
	bool reads = false;
	if (g->ops[u].constant || g->ops[u].output || m->at[u] >= m->at[v])
		return false;
	for (int e = g->first_succ[u]; e < g->first_succ[u + 1]; e++) {
		if (m->at[g->succ[e].op] > m->at[v])
			return false;
		reads |= g->succ[e].op == v;
	}
	return reads;
}

static bool is_gradient(const stage_memory *m, int v)
{
	const cost_graph *g = m->g;
	bool read = false;
	for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++)
		read |= m->pass[g->succ[e].op] == PASS_U;
	return read && g->ops[v].backward && m->pass[v] != PASS_U;
}

/* Results with a permanent place need no memory, nor do those that take over
 * such a place. */
static void set_places(arena *own, stage_memory *m)
{
	const cost_graph *g = m->g;
	int *op_at = ARENA_ARRAY(own, int, m->ninstants);
	bool *has_place = ARENA_ARRAY(own, bool, g->nops);
	for (int v = 0; v < g->nops; v++) {
		op_at[m->at[v]] = v + 1;
		m->heir[v] = -1;
	}
	for (int i = 0; i < m->ninstants; i++) {
		int v = op_at[i] - 1;
		if (v < 0)
			continue;
		int over = g->ops[v].over, u = over > 0 ? over - 1 : -1;
		has_place[v] = over == COST_OVER_STATE || is_gradient(m, v);
		if (u >= 0 && takes_over(m, v, u)) {
			m->heir[u] = v;
			has_place[v] |= has_place[u];
		}
		if (!has_place[v] && !g->ops[v].constant)
			m->nbytes[v] = bytes_of(g, v);
	}
}

static void set_layers(arena *a, stage_memory *m)
{
	int n = m->g->nops;
	m->first_op = ARENA_ARRAY(a, int, m->nlayers + 2);
	m->ops = ARENA_ARRAY(a, int, n);
	for (int v = 0; v < n; v++)
		m->first_op[m->layer[v] + 2]++;
	for (int l = 0; l < m->nlayers; l++)
		m->first_op[l + 2] += m->first_op[l + 1];
	for (int v = 0; v < n; v++)
		m->ops[m->first_op[m->layer[v] + 1]++] = v;
}

const stage_memory *stage_memory_new(arena *a, const cost_graph *g,
				     const int *layer, int n)
{
	arena *own = arena_new();
	stage_memory *m = ARENA_NEW(a, stage_memory);
	*m = (stage_memory){ .g = g, .layer = layer, .nlayers = n };
	m->pass = ARENA_ARRAY(a, pass, g->nops);
	m->at = ARENA_ARRAY(a, int, g->nops);
	m->nbytes = ARENA_ARRAY(a, int64_t, g->nops);
	m->heir = ARENA_ARRAY(a, int, g->nops);
	find_passes(m);
	set_instants(own, m);
	set_places(own, m);
	set_layers(a, m);
	arena_free(own);
	return m;
}

double stage_memory_most(const stage_memory *m)
{
	double sum = 0;
	for (int v = 0; v < m->g->nops; v++)
		sum += (double)bytes_of(m->g, v);
	return sum;
}

/* ---- bytes in use over the instants -------------------------------------- */

/* A binary tree over changes of the bytes in use.  A node has the sum of its
 * leaves, and the greatest sum from its first leaf to one at which a stage
 * looks. */
typedef struct usage {
	int nleaves; /* a power of two */
	int64_t *sum, *most;
} usage;

#define UNSEEN (INT64_MIN / 2)

static void usage_combine(const usage *u, int node)
{
	int l = 2 * node, r = l + 1;
	int64_t behind = u->sum[l] + u->most[r];
	u->sum[node] = u->sum[l] + u->sum[r];
	u->most[node] = u->most[l] > behind ? u->most[l] : behind;
}

static void usage_raise(const usage *u, int leaf)
{
	for (int node = (leaf + u->nleaves) / 2; node > 0; node /= 2)
		usage_combine(u, node);
}

static usage usage_new(arena *a, int n)
{
	usage u = { .nleaves = power_of_two(n) };
	u.sum = ARENA_ARRAY(a, int64_t, 2 * (size_t)u.nleaves);
	u.most = ARENA_ARRAY(a, int64_t, 2 * (size_t)u.nleaves);
	return u;
}

/* Clears the tree: no bytes, no looks. */
static void usage_clear(const usage *u)
{
	for (int i = 0; i < 2 * u->nleaves; i++) {
		u->sum[i] = 0;
		u->most[i] = UNSEEN;
	}
}

static void usage_change(const usage *u, int leaf, int64_t bytes)
{
	bool seen = u->most[leaf + u->nleaves] != UNSEEN;
	u->sum[leaf + u->nleaves] += bytes;
	if (seen)
		u->most[leaf + u->nleaves] += bytes;
	usage_raise(u, leaf);
}

static void usage_look(const usage *u, int leaf)
{
	u->most[leaf + u->nleaves] = u->sum[leaf + u->nleaves];
	usage_raise(u, leaf);
}

/* ---- stages -------------------------------------------------------------- */

/* The instants at which a result is on a stage's device; first > last if it is
 * not. */
typedef struct stay {
	int first, last;
} stay;

/* The stage [i, j) while j grows. */
typedef struct growing {
	const stage_memory *m;
	bool recompute;
	int i;
	usage use;
	/* By operator. */
	bool *is_in;
	stay *reads; /* instants of its readers in the stage */
	stay *stays; /* as counted in `use' */
	int64_t kept, constants;
} growing;

static const stay nowhere = { INT32_MAX, -1 };

static int pass_begin(const stage_memory *m, int instant)
{
	pass p = PASS_U;
	while (m->begin[p] > instant)
		p--;
	return m->begin[p];
}

/* Whether a result comes from the forward pass of an earlier stage. */
static bool is_input(const growing *s, int v)
{
	return s->m->layer[v] < s->i && s->m->pass[v] == PASS_F;
}

static stay stay_of(const growing *s, int v)
{
	const stage_memory *m = s->m;
	const bool output = s->is_in[v] && m->g->ops[v].output;
	const int heir = m->heir[v];
	stay x = s->reads[v];
	if (m->nbytes[v] == 0 || (!s->is_in[v] && x.last < 0))
		return nowhere;
	x.first = s->is_in[v]	 ? m->at[v] :
		  is_input(s, v) ? m->begin[PASS_F] :
				   pass_begin(m, x.first);
	x.last = x.last > x.first ? x.last : x.first;
	if (heir >= 0 && s->is_in[heir])
		x.last = m->at[heir] - 1;
	if (is_input(s, v) ? s->recompute : output) {
		int end = m->pass[v] == PASS_U ? m->ninstants - 1 : m->end;
		x.last = x.last > end ? x.last : end;
	}
	if (s->recompute && output && m->pass[v] == PASS_F)
		x.first = m->begin[PASS_F];
	return x;
}

/* Whether each micro-batch in flight keeps a result between its passes. */
static bool is_kept(const growing *s, int v, stay x)
{
	int backward = s->m->begin[PASS_B];
	return x.first < backward && x.last >= backward &&
	       (!s->recompute || !s->is_in[v] || s->m->g->ops[v].output);
}

static void count(const growing *s, stay x, int64_t bytes)
{
	if (x.first > x.last)
		return;
	usage_change(&s->use, x.first, bytes);
	if (x.last + 1 < s->m->ninstants)
		usage_change(&s->use, x.last + 1, -bytes);
}

/* Counts a result again after a change. */
static void update(growing *s, int v, bool was_kept)
{
	stay old = s->stays[v], new = stay_of(s, v);
	int64_t bytes = s->m->nbytes[v];
	s->kept += bytes * (is_kept(s, v, new) - was_kept);
	if (old.first == new.first && old.last == new.last)
		return;
	count(s, old, -bytes);
	count(s, new, bytes);
	s->stays[v] = new;
}

/* Counts a constant when the first operator that has or reads it is added. */
static void hold_constant(growing *s, int v)
{
	if (s->m->g->ops[v].constant && !s->is_in[v] && s->reads[v].last < 0)
		s->constants += bytes_of(s->m->g, v);
}

static void add_reader(growing *s, int v, int at)
{
	stay *x = &s->reads[v];
	bool was_kept = is_kept(s, v, s->stays[v]);
	hold_constant(s, v);
	x->first = x->first < at ? x->first : at;
	x->last = x->last > at ? x->last : at;
	update(s, v, was_kept);
}

static void add_op(growing *s, int v)
{
	const cost_graph *g = s->m->g;
	bool was_kept = is_kept(s, v, s->stays[v]);
	hold_constant(s, v);
	s->is_in[v] = true;
	usage_look(&s->use, s->m->at[v]);
	update(s, v, was_kept);
	for (int e = g->first_pred[v]; e < g->first_pred[v + 1]; e++)
		add_reader(s, g->pred[e].op, s->m->at[v]);
}

/* Begins with the empty stage at i. */
static void begin_at(growing *s, int i)
{
	const stage_memory *m = s->m;
	s->i = i;
	s->kept = s->constants = 0;
	for (int v = 0; v < m->g->nops; v++) {
		s->is_in[v] = false;
		s->reads[v] = s->stays[v] = nowhere;
	}
	usage_clear(&s->use);
	for (pass p = PASS_F; p < NPASSES; p++)
		usage_look(&s->use, m->begin[p]);
}

void stage_memory_fill(const stage_memory *m, bool recompute, intervals *t)
{
	arena *own = arena_new();
	growing s = { .m = m };
	s.recompute = recompute && m->end >= m->begin[PASS_B];
	s.use = usage_new(own, m->ninstants);
	s.is_in = ARENA_ARRAY(own, bool, m->g->nops);
	s.reads = ARENA_ARRAY(own, stay, m->g->nops);
	s.stays = ARENA_ARRAY(own, stay, m->g->nops);
	for (int i = 0; i < m->nlayers; i++) {
		begin_at(&s, i);
		for (int j = i; j < m->nlayers; j++) {
			size_t x = interval_at(i, j + 1);
			for (int k = m->first_op[j]; k < m->first_op[j + 1];
			     k++)
				add_op(&s, m->ops[k]);
			t->kept[x] = (double)s.kept;
			t->fixed[x] += (double)(s.constants + s.use.most[1] -
						s.kept);
			if (t->running)
				t->running[x] = (double)(s.use.most[1] -
							 s.kept);
		}
	}
	arena_free(own);
}
