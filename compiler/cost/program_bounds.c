#include "config.h"

#include "compiler/cost/program_bounds.h"

#include "compiler/cost/program_bounds_build.h"

enum { MOST_OF_THREE = 1 << 12 }; /* entries of a table over three variables */

/* ---- variables --------------------------------------------------------- */

static int add_var(bound_maker *m, int of, int nvalues)
{
	program_bound_set *s = m->to;
	s->of[s->nvars] = of;
	s->nvalues[s->nvars] = nvalues;
	return s->nvars++;
}

static void add_tensor(bound_maker *m, tensor_id t)
{
	const candidate_set *w = m->x->candidates;
	tensor_id by = w->tied[t];
	if (m->tensor_var[by] < 0)
		m->tensor_var[by] = add_var(m, by, w->tensors[by]->n);
	m->tensor_var[t] = m->tensor_var[by];
}

static void set_vars(bound_maker *m)
{
	const graph *g = m->g;
	for (tensor_id t = 0; t < g->ntensors; t++)
		m->tensor_var[t] = -1;
	for (node_id n = 0; n < g->nnodes; n++) {
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
			add_tensor(m, g->nodes[n].inputs[i]);
		m->node_var[n] = add_var(m, g->ntensors + n,
					 m->x->candidates->nodes[n]->n);
		add_tensor(m, g->nodes[n].output);
	}
	for (tensor_id t = 0; t < g->ntensors; t++)
		add_tensor(m, t);
}

static void set_order(bound_maker *m)
{
	const graph *g = m->g;
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++) {
			tensor_id t = g->nodes[n].inputs[i];
			node_id by = g->tensors[t].producer;
			m->readers[t] |= node_bit(n);
			if (by != NONE)
				m->above[n] |= m->above[by] | node_bit(by);
		}
	for (node_id n = 0; n < g->nnodes; n++)
		for (node_id b = 0; b < n; b++)
			if (m->above[n] & node_bit(b))
				m->below[b] |= node_bit(n);
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (g->tensors[t].kind == TENSOR_STATE &&
		    g->tensors[t].next != NONE)
			m->next[g->tensors[t].next] = true;
}

/* ---- merges ------------------------------------------------------------ */

bool bound_may_vanish(const bound_maker *m, tensor_id t)
{
	return m->merges && m->merges[t].may;
}

bool bound_may_go(const bound_maker *m, node_id n)
{
	return bound_may_vanish(m, m->g->nodes[n].output);
}

bool bound_may_grow(const bound_maker *m, node_id n)
{
	const node *x = &m->g->nodes[n];
	for (int i = 0; i < x->kernel->ninputs; i++)
		if (bound_may_vanish(m, x->inputs[i]))
			return true;
	return false;
}

bool bound_is_shared(const bound_maker *m, const time_model_pair *p)
{
	return p->inputs && (m->readers[p->tensor] & ~node_bit(p->node));
}

/* Whether a node and the tensor that it computes are divided alike. */
static bool made_alike(const bound_maker *m, tensor_id t, int i, int j)
{
	node_id n = m->g->tensors[t].producer;
	const cuts *made = &m->x->candidates->nodes[n]->at[i];
	const cuts *held = &m->x->candidates->tensors[t]->at[j];
	if (m->merges[t].reader == NONE)
		return true;
	for (int a = 0; a < m->x->mesh.naxes; a++)
		if (made->dim[a] != held->dim[a])
			return false;
	return true;
}

/* Whether a tensor and its reader are. */
static bool read_alike(const bound_maker *m, tensor_id t, int i, int j)
{
	const merge *x = &m->merges[t];
	if (x->reader == NONE)
		return true;
	const cuts *used = &m->x->candidates->nodes[x->reader]->at[i];
	const cuts *held = &m->x->candidates->tensors[t]->at[j];
	for (int a = 0; a < m->x->mesh.naxes; a++) {
		int d = held->dim[a];
		int var = d >= 0 ? x->read->args[d]->var : CUT_NONE;
		bool any = m->loose[t] && (d < 0 || used->dim[a] == CUT_NONE);
		if (!any && used->dim[a] != var)
			return false;
	}
	return true;
}

/* The cuts of a tensor, and of the node that computes it, refined on the axes
 * on which its reader is divided further. */
static bool refined(const bound_maker *m, tensor_id t, int i, int j, cuts *to)
{
	const merge *x = &m->merges[t];
	const cuts *used = &m->x->candidates->nodes[x->reader]->at[i];
	bool further = false;
	*to = m->x->candidates->tensors[t]->at[j];
	for (int a = 0; a < m->x->mesh.naxes; a++) {
		if (to->dim[a] != CUT_NONE || used->dim[a] == CUT_NONE)
			continue;
		further = true;
		for (int d = 0; d < kx_ndim(x->read); d++)
			if (x->read->args[d]->var == used->dim[a])
				to->dim[a] = (signed char)d;
	}
	return further;
}

/* A node merged into another is divided like that one.  If its own way divides
 * nothing and the other is divided, its program is that of a plan which divides
 * both: a bound for that plan suffices if the plan is among the ways. */
static bool is_loose(const bound_maker *m, tensor_id t)
{
	const candidate_set *w = m->x->candidates;
	const merge *x = &m->merges[t];
	cuts to;
	if (m->pinned || x->reader == NONE)
		return true;
	for (int i = 0; i < w->nodes[x->reader]->n; i++)
		for (int j = 0; j < w->tensors[t]->n; j++)
			if (refined(m, t, i, j, &to) &&
			    (candidates_index(w->tensors[t], &to,
					      m->x->mesh.naxes) < 0 ||
			     candidates_index(
				     w->nodes[m->g->tensors[t].producer], &to,
				     m->x->mesh.naxes) < 0))
				return true;
	return false;
}

static void set_loose(bound_maker *m)
{
	m->loose = ARENA_ARRAY(m->to->arena, bool, m->g->ntensors);
	for (tensor_id t = 0; t < m->g->ntensors; t++)
		m->loose[t] = bound_may_vanish(m, t) && is_loose(m, t);
	/* A tensor read by a part of another node is divided as that node
	 * is. */
	for (node_id n = m->g->nnodes; n-- > 0;) {
		tensor_id t = m->g->nodes[n].output;
		node_id by =
			bound_may_vanish(m, t) ? m->merges[t].reader : NONE;
		if (by != NONE && m->loose[m->g->nodes[by].output])
			m->loose[t] = true;
	}
}

/* Sets the bytes that a node fetches to 0 for a way that divides nothing:
 * merged into another node it may be divided in ways that are not
 * enumerated. */
static void leave_open(const bound_maker *m, node_id n, int ntensor,
		       double *cost)
{
	const candidates *w = m->x->candidates->nodes[n];
	for (int i = 0; i < w->n; i++)
		for (int t = 0; t < ntensor; t++)
			if (assignment_skips_axis(&w->at[i], &m->x->mesh))
				cost[i * ntensor + t] = 0;
}

/* ---- terms ------------------------------------------------------------- */

void bound_add_term(bound_maker *m, program_bound *f, int u, int v,
		    const double *cost)
{
	vec_push(m->to->arena, &f->terms, ((bound_term){ u, v, -1, cost }));
}

void bound_add_loss(bound_maker *m, program_bound *f, tensor_id t, losing loss)
{
	const candidate_set *w = m->x->candidates;
	node_id by = m->g->tensors[t].producer, to = m->merges[t].reader;
	int nb = w->nodes[by]->n, nt = w->tensors[t]->n;
	int nr = to != NONE ? w->nodes[to]->n : 1, at = 0;
	if (to == NONE)
		return;
	bool three = (int64_t)nb * nt * nr <= MOST_OF_THREE;
	double *cost = ARENA_ARRAY(m->to->arena, double,
				   nb * nt * (three ? nr : 1));
	for (int i = 0; i < nb; i++)
		for (int j = 0; j < nt; j++) {
			bool made = made_alike(m, t, i, j);
			for (int r = 0; r < (three ? nr : 1); r++, at++)
				if (!made ||
				    (three && !read_alike(m, t, r, j)))
					cost[at] = loss(m, t, i, j,
							three ? r : -1);
		}
	vec_push(m->to->arena, &f->terms,
		 ((bound_term){ m->node_var[by], m->tensor_var[t],
				three ? m->node_var[to] : -1, cost }));
}

static double lost_bytes(const bound_maker *m, tensor_id t, int made, int held,
			 int used)
{
	(void)made;
	(void)used;
	return (double)m->x->stored[t][held];
}

void bound_add_block(bound_maker *m, program_bound *f, tensor_id t)
{
	if (bound_may_vanish(m, t)) {
		bound_add_loss(m, f, t, lost_bytes);
		return;
	}
	int n = m->x->candidates->tensors[t]->n;
	double *cost = ARENA_ARRAY(m->to->arena, double, n);
	for (int i = 0; i < n; i++)
		cost[i] = (double)m->x->stored[t][i];
	bound_add_term(m, f, m->tensor_var[t], -1, cost);
}

void bound_add_pair(bound_maker *m, program_bound *f, const time_model_pair *p,
		    counting count)
{
	int nn = m->x->candidates->nodes[p->node]->n;
	int nt = m->x->candidates->tensors[p->tensor]->n;
	double *cost = ARENA_ARRAY(m->to->arena, double, nn * nt);
	for (int i = 0; i < nn * nt; i++) {
		int64_t stored = m->next[p->tensor]
					 ? 0 : m->x->stored[p->tensor][i % nt];
		cost[i] = count(m, p, &p->cost[i], stored);
		if (p->inputs && bound_may_vanish(m, p->tensor) &&
		    read_alike(m, p->tensor, i / nt, i % nt))
			cost[i] = 0;
	}
	if (p->inputs && m->loose[m->g->nodes[p->node].output])
		leave_open(m, p->node, nt, cost);
	bound_add_term(m, f, m->node_var[p->node], m->tensor_var[p->tensor],
		       cost);
}

/* ---- all of them ------------------------------------------------------- */

program_bound_set *program_bounds_new(arena *a, const time_model *x,
				      const topology *t, const int *usual,
				      const merge *merges, bool pinned)
{
	const graph *g = x->graph;
	int n = g->ntensors + g->nnodes;
	program_bound_set *s = ARENA_NEW(a, program_bound_set);
	*s = (program_bound_set){ .arena = a, .time_model = x,
				  .nvalues = ARENA_ARRAY(a, int, n),
				  .of = ARENA_ARRAY(a, int, n) };
	bound_maker m = { .to = s, .x = x, .g = g, .merges = merges,
		    .pinned = pinned,
		    .tensor_var = ARENA_ARRAY(a, int, g->ntensors),
		    .node_var = ARENA_ARRAY(a, int, g->nnodes),
		    .above = ARENA_ARRAY(a, node_set, g->nnodes),
		    .below = ARENA_ARRAY(a, node_set, g->nnodes),
		    .readers = ARENA_ARRAY(a, node_set, g->ntensors),
		    .next = ARENA_ARRAY(a, bool, g->ntensors) };
	set_vars(&m);
	set_order(&m);
	set_loose(&m);
	bound_add_times(&m, t->overlap, usual);
	bound_add_memories(&m);
	return s;
}

void program_bound_add(mini_bucket *to, const program_bound *f, double times)
{
	for (int i = 0; i < f->terms.n; i++) {
		const bound_term *t = &f->terms.at[i];
		const int vars[] = { t->u, t->v, t->w };
		if (t->v < 0)
			mini_bucket_add(to, t->u, t->cost, times);
		else if (t->w >= 0)
			mini_bucket_add_three(to, vars, t->cost, times);
		else
			mini_bucket_add_pair(to, t->u, t->v, t->cost, times);
	}
}

double program_bound_at(const program_bound_set *s, const program_bound *f,
			const int *value)
{
	double sum = 0;
	for (int i = 0; i < f->terms.n; i++) {
		const bound_term *t = &f->terms.at[i];
		int at = value[t->u];
		if (t->v >= 0)
			at = at * s->nvalues[t->v] + value[t->v];
		if (t->w >= 0)
			at = at * s->nvalues[t->w] + value[t->w];
		sum += t->cost[at];
	}
	return sum;
}
