#include "config.h"

#include "compiler/cost/program_bounds.h"

#include "compiler/cost/assignment.h"
#include "plan/plan.h"

enum { MOST_OF_THREE = 1 << 12 }; /* entries of a table of three */

/* Nodes as bits. */
typedef uint64_t node_set;

typedef struct maker {
	program_bound_set *to;
	const time_model *x;
	const graph *g;
	int *tensor_var, *node_var;
	node_set *above, *below; /* by node: what comes before it, after it */
	node_set *readers;	 /* by tensor */
	bool *next;		 /* by tensor: of a state */
	const merge *merges;	 /* by tensor; NULL: none */
	bool pinned;
	bool *loose; /* by tensor that may vanish: the candidates of its nodes
			are not all that there are */
} maker;

static node_set bit(node_id n)
{
	return (node_set)1 << n;
}

/* ---- variables --------------------------------------------------------- */

static int add_var(maker *m, int of, int nvalues)
{
	program_bound_set *s = m->to;
	s->of[s->nvars] = of;
	s->nvalues[s->nvars] = nvalues;
	return s->nvars++;
}

static void add_tensor(maker *m, tensor_id t)
{
	const candidate_set *w = m->x->candidates;
	tensor_id by = w->tied[t];
	if (m->tensor_var[by] < 0)
		m->tensor_var[by] = add_var(m, by, w->tensors[by]->n);
	m->tensor_var[t] = m->tensor_var[by];
}

static void set_vars(maker *m)
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

static void set_order(maker *m)
{
	const graph *g = m->g;
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++) {
			tensor_id t = g->nodes[n].inputs[i];
			node_id by = g->tensors[t].producer;
			m->readers[t] |= bit(n);
			if (by != NONE)
				m->above[n] |= m->above[by] | bit(by);
		}
	for (node_id n = 0; n < g->nnodes; n++)
		for (node_id b = 0; b < n; b++)
			if (m->above[n] & bit(b))
				m->below[b] |= bit(n);
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (g->tensors[t].kind == TENSOR_STATE &&
		    g->tensors[t].next != NONE)
			m->next[g->tensors[t].next] = true;
}

/* ---- merges ------------------------------------------------------------ */

static bool may_vanish(const maker *m, tensor_id t)
{
	return m->merges && m->merges[t].may;
}

/* Whether a node may be a part of another. */
static bool may_go(const maker *m, node_id n)
{
	return may_vanish(m, m->g->nodes[n].output);
}

/* Whether others may be parts of a node. */
static bool may_grow(const maker *m, node_id n)
{
	const node *x = &m->g->nodes[n];
	for (int i = 0; i < x->kernel->ninputs; i++)
		if (may_vanish(m, x->inputs[i]))
			return true;
	return false;
}

/* Whether a node and the tensor that it computes are divided alike. */
static bool made_alike(const maker *m, tensor_id t, int i, int j)
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

/* Whether the reader of a tensor is. */
static bool read_alike(const maker *m, tensor_id t, int i, int j)
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
static bool refined(const maker *m, tensor_id t, int i, int j, cuts *to)
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

/* A node that is a part of another is divided as that one is.  Where its own
 * way divides nothing, and the other is divided, its program is that of a plan
 * which divides both: a bound of that plan is enough, if the plan is among the
 * ways. */
static bool is_loose(const maker *m, tensor_id t)
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

static void set_loose(maker *m)
{
	m->loose = ARENA_ARRAY(m->to->arena, bool, m->g->ntensors);
	for (tensor_id t = 0; t < m->g->ntensors; t++)
		m->loose[t] = may_vanish(m, t) && is_loose(m, t);
	/* A tensor read by a part of another node is divided as that node
	 * is. */
	for (node_id n = m->g->nnodes; n-- > 0;) {
		tensor_id t = m->g->nodes[n].output;
		node_id by = may_vanish(m, t) ? m->merges[t].reader : NONE;
		if (by != NONE && m->loose[m->g->nodes[by].output])
			m->loose[t] = true;
	}
}

/* Sets to 0 the bytes that a node fetches under a way that divides nothing: as
 * a part of another node it may be divided in ways that are not enumerated. */
static void leave_open(const maker *m, node_id n, int ntensor, double *cost)
{
	const candidates *w = m->x->candidates->nodes[n];
	for (int i = 0; i < w->n; i++)
		for (int t = 0; t < ntensor; t++)
			if (assignment_skips_axis(&w->at[i], &m->x->mesh))
				cost[i * ntensor + t] = 0;
}

/* ---- terms ------------------------------------------------------------- */

static void add_term(maker *m, program_bound *f, int u, int v,
		     const double *cost)
{
	vec_push(m->to->arena, &f->terms, ((bound_term){ u, v, -1, cost }));
}

/* Adds what is lost where a tensor that may vanish does not: cost[] by ways of
 * its node, of the tensor, and of its reader, if all are looked at, else by the
 * first two. */
typedef double (*losing)(const maker *m, tensor_id t, int made, int held,
			 int used);

static void add_loss(maker *m, program_bound *f, tensor_id t, losing loss)
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

static double lost_bytes(const maker *m, tensor_id t, int made, int held,
			 int used)
{
	(void)made;
	(void)used;
	return (double)m->x->stored[t][held];
}

static void add_block(maker *m, program_bound *f, tensor_id t)
{
	if (may_vanish(m, t)) {
		add_loss(m, f, t, lost_bytes);
		return;
	}
	int n = m->x->candidates->tensors[t]->n;
	double *cost = ARENA_ARRAY(m->to->arena, double, n);
	for (int i = 0; i < n; i++)
		cost[i] = (double)m->x->stored[t][i];
	add_term(m, f, m->tensor_var[t], -1, cost);
}

/* The amount that a figure counts for a node and a tensor. */
typedef double (*counting)(const maker *m, const time_model_pair *p,
			   const time_model_cost *c, int64_t stored);

static void add_pair(maker *m, program_bound *f, const time_model_pair *p,
		     counting count)
{
	int nn = m->x->candidates->nodes[p->node]->n;
	int nt = m->x->candidates->tensors[p->tensor]->n;
	double *cost = ARENA_ARRAY(m->to->arena, double, nn * nt);
	for (int i = 0; i < nn * nt; i++) {
		int64_t stored = m->next[p->tensor]
					 ? 0 : m->x->stored[p->tensor][i % nt];
		cost[i] = count(m, p, &p->cost[i], stored);
		if (p->inputs && may_vanish(m, p->tensor) &&
		    read_alike(m, p->tensor, i / nt, i % nt))
			cost[i] = 0;
	}
	if (p->inputs && m->loose[m->g->nodes[p->node].output])
		leave_open(m, p->node, nt, cost);
	add_term(m, f, m->node_var[p->node], m->tensor_var[p->tensor], cost);
}

/* ---- seconds ----------------------------------------------------------- */

static bool is_shared(const maker *m, const time_model_pair *p)
{
	return p->inputs && (m->readers[p->tensor] & ~bit(p->node));
}

/* A copy that several read may be fetched once: each pays its part. */
static double share_of(const maker *m, const time_model_pair *p, double seconds)
{
	return seconds / __builtin_popcountll(m->readers[p->tensor]);
}

static double all_seconds(const maker *m, const time_model_pair *p,
			  const time_model_cost *c, int64_t stored)
{
	(void)stored;
	return is_shared(m, p) ? share_of(m, p, c->wire) : c->seconds;
}

static double remote_seconds(const maker *m, const time_model_pair *p,
			     const time_model_cost *c, int64_t stored)
{
	(void)stored;
	return is_shared(m, p) ? share_of(m, p, c->wire) : c->remote;
}

static double local_seconds(const maker *m, const time_model_pair *p,
			    const time_model_cost *c, int64_t stored)
{
	(void)stored;
	return is_shared(m, p) ? 0 : c->seconds - c->remote;
}

/* Of what one waits for: a copy that others read, too, but not in part. */
static double awaited_seconds(const maker *m, const time_model_pair *p,
			      const time_model_cost *c, int64_t stored)
{
	(void)stored;
	return is_shared(m, p) ? c->wire : c->seconds;
}

/* Of what the first node of all waits for: its fetches follow each other. */
static double first_seconds(const maker *m, const time_model_pair *p,
			    const time_model_cost *c, int64_t stored)
{
	(void)stored;
	return is_shared(m, p) ? c->wire : c->remote;
}

static int count_parts(const maker *m, node_id n)
{
	const node *x = &m->g->nodes[n];
	int parts = 0;
	for (int i = 0; i < x->kernel->ninputs; i++)
		parts += may_vanish(m, x->inputs[i]);
	return parts;
}

static const double *run_of(const maker *m, node_id n)
{
	return may_grow(m, n) ? m->x->work[n] : m->x->run[n];
}

/* Of a node that is no part of its reader; that has to read its result then. */
static double lost_seconds(const maker *m, tensor_id t, int made, int held,
			   int used)
{
	node_id by = m->g->tensors[t].producer, to = m->merges[t].reader;
	double lost = run_of(m, by)[made];
	(void)held;
	if (used >= 0 && !may_go(m, to) && count_parts(m, to) == 1)
		lost += m->x->run[to][used] - m->x->work[to][used];
	return lost;
}

/* A node of which others are parts takes what its own arithmetic takes, at
 * least; one that is a part itself takes nothing of its own. */
static void add_run(maker *m, program_bound *f, node_id n)
{
	if (may_go(m, n))
		add_loss(m, f, m->g->nodes[n].output, lost_seconds);
	else
		add_term(m, f, m->node_var[n], -1, run_of(m, n));
}

/* All of the nodes, where `runs` is set, and what is counted of transfers. */
static void add_total(maker *m, bool runs, counting count)
{
	program_bound f = { 0 };
	for (node_id n = 0; runs && n < m->g->nnodes; n++)
		add_run(m, &f, n);
	for (int i = 0; i < m->x->pairs.n; i++)
		add_pair(m, &f, &m->x->pairs.at[i], count);
	vec_push(m->to->arena, &m->to->seconds, f);
}

static double usual_seconds(const maker *m, const time_model_pair *p,
			    const int *usual)
{
	const candidate_set *w = m->x->candidates;
	int i = usual[m->g->ntensors + p->node], j = usual[w->tied[p->tensor]];
	return awaited_seconds(m, p, &p->cost[i * w->tensors[p->tensor]->n + j],
			       0);
}

/* The longest chain of nodes, each of which reads what the one before it
 * computes: none of what is on it can overlap. */
static void add_chain(maker *m, const int *usual)
{
	const time_model *x = m->x;
	int nnodes = m->g->nnodes;
	arena *a = m->to->arena;
	double *longest = ARENA_ARRAY(a, double, nnodes);
	int *from = ARENA_ARRAY(a, int, nnodes), last = 0; /* pairs, or -1 */
	for (node_id n = 0; n < nnodes; n++) {
		from[n] = -1;
		for (int i = x->first[n]; i < x->first[n + 1]; i++) {
			const time_model_pair *p = &x->pairs.at[i];
			node_id by = m->g->tensors[p->tensor].producer;
			double s = usual_seconds(m, p, usual);
			if (!p->inputs || by == NONE ||
			    longest[by] + s <= longest[n])
				continue;
			longest[n] = longest[by] + s;
			from[n] = i;
		}
		longest[n] += x->run[n][usual[m->g->ntensors + n]] +
			      usual_seconds(m, &x->pairs.at[x->first[n]],
					    usual);
		last = longest[n] > longest[last] ? n : last;
	}
	program_bound f = { 0 };
	for (node_id n = last; n >= 0 && nnodes > 0;) {
		add_run(m, &f, n);
		add_pair(m, &f, &x->pairs.at[x->first[n]], awaited_seconds);
		if (from[n] < 0) {
			for (int i = x->first[n] + 1; i < x->first[n + 1]; i++)
				add_pair(m, &f, &x->pairs.at[i], first_seconds);
			break;
		}
		add_pair(m, &f, &x->pairs.at[from[n]], awaited_seconds);
		n = m->g->tensors[x->pairs.at[from[n]].tensor].producer;
	}
	vec_push(a, &m->to->seconds, f);
}

/* ---- bytes ------------------------------------------------------------- */

static bool is_kept(const tensor *t)
{
	return t->kind == TENSOR_STATE || t->kind == TENSOR_CONSTANT ||
	       t->output;
}

/* Whether a tensor has its block when a node has run and what comes before it,
 * whatever the order: somebody still needs it. */
static bool is_needed_after(const maker *m, tensor_id t, node_id n)
{
	return is_kept(&m->g->tensors[t]) || (m->readers[t] & m->below[n]);
}

static bool is_there_before(const maker *m, tensor_id t, node_id n)
{
	const tensor *x = &m->g->tensors[t];
	if (x->kind == TENSOR_RESULT)
		return m->above[n] & bit(x->producer);
	return x->kind == TENSOR_STATE || x->output || m->readers[t];
}

/* A tensor that becomes a state lies in the state's place, which is counted. */
static bool is_live(const maker *m, tensor_id t, node_id n)
{
	return !m->next[t] && is_there_before(m, t, n) &&
	       is_needed_after(m, t, n);
}

/* Whether a node may fetch more of a tensor, in place of the block: if a part
 * of the node reads the tensor, too. */
static bool may_fetch_more(const maker *m, const time_model_pair *p,
			   const time_model_cost *c)
{
	return c->copy == 0 && is_shared(m, p) && may_grow(m, p->node) &&
	       !is_needed_after(m, p->tensor, p->node);
}

static double either(const maker *m, const time_model_pair *p,
		     const time_model_cost *c, int64_t stored)
{
	bool stays = is_needed_after(m, p->tensor, p->node);
	if (may_fetch_more(m, p, c))
		return 0;
	if (c->copy == 0)
		return (double)stored;
	return (double)(c->copy + (stays ? stored : 0));
}

static double least_of_both(const maker *m, const time_model_pair *p,
			    const time_model_cost *c, int64_t stored)
{
	bool stays = is_needed_after(m, p->tensor, p->node);
	if (may_fetch_more(m, p, c))
		return 0;
	return (double)(c->copy == 0 || stays || stored < c->copy ? stored
								  : c->copy);
}

static double both(const maker *m, const time_model_pair *p,
		   const time_model_cost *c, int64_t stored)
{
	(void)m;
	(void)p;
	return (double)(c->copy + stored);
}

static double result(const maker *m, const time_model_pair *p,
		     const time_model_cost *c, int64_t stored)
{
	(void)m;
	(void)p;
	return (double)(c->copy ? c->copy : stored);
}

static double moved_result(const maker *m, const time_model_pair *p,
			   const time_model_cost *c, int64_t stored)
{
	(void)m;
	(void)p;
	return (double)(c->copy && c->share ? c->copy + c->share
					    : c->copy + stored);
}

/* Whether the result may take the place of an input, of the node or of one that
 * is a part of it. */
static bool may_replace(const maker *m, node_id id)
{
	const node *n = &m->g->nodes[id];
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (kernel_in_place(n->kernel, i))
			return true;
	return may_grow(m, id);
}

/* The bytes in use besides those that a node reads and computes. */
static program_bound others(maker *m, node_id n)
{
	program_bound f = { 0 };
	for (tensor_id t = 0; t < m->g->ntensors; t++)
		if (is_live(m, t, n) && !(m->readers[t] & bit(n)))
			add_block(m, &f, t);
	return f;
}

static void add_inputs(maker *m, program_bound *f, node_id n,
		       const time_model_pair *but, counting count)
{
	for (int i = m->x->first[n]; i < m->x->first[n + 1]; i++) {
		const time_model_pair *p = &m->x->pairs.at[i];
		if (p->inputs && p != but)
			add_pair(m, f, p, count);
	}
}

static void add_bytes(maker *m, program_bound f)
{
	vec_push(m->to->arena, &m->to->bytes, f);
}

/* While it fetches, runs, and hands on. */
static void add_instants(maker *m, node_id n)
{
	const time_model_pair *out = &m->x->pairs.at[m->x->first[n]];
	bool next = m->next[out->tensor];
	for (int i = m->x->first[n]; i < m->x->first[n + 1]; i++) {
		const time_model_pair *p = &m->x->pairs.at[i];
		if (!p->inputs || is_shared(m, p))
			continue;
		program_bound f = others(m, n);
		add_pair(m, &f, p, both);
		add_inputs(m, &f, n, p, least_of_both);
		add_bytes(m, f);
	}
	program_bound run = others(m, n);
	add_inputs(m, &run, n, NULL, either);
	if (!next && !may_replace(m, n))
		add_pair(m, &run, out, result);
	add_bytes(m, run);
	program_bound done = others(m, n);
	for (int i = m->x->first[n]; i < m->x->first[n + 1]; i++) {
		const time_model_pair *p = &m->x->pairs.at[i];
		if (p->inputs && is_live(m, p->tensor, n))
			add_block(m, &done, p->tensor);
	}
	if (!next)
		add_pair(m, &done, out, moved_result);
	add_bytes(m, done);
}

/* Before the first node and after the last. */
static void add_ends(maker *m)
{
	program_bound begin = { 0 }, end = { 0 };
	for (tensor_id t = 0; t < m->g->ntensors; t++) {
		const tensor *x = &m->g->tensors[t];
		bool used = x->kind == TENSOR_STATE || x->output ||
			    m->readers[t];
		if (used && x->kind != TENSOR_RESULT)
			add_block(m, &begin, t);
		if (used && is_kept(x))
			add_block(m, &end, t);
	}
	add_bytes(m, begin);
	add_bytes(m, end);
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
	maker m = { .to = s, .x = x, .g = g, .merges = merges,
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
	if (t->overlap) {
		add_total(&m, true, local_seconds);
		add_total(&m, false, remote_seconds);
		add_chain(&m, usual);
	} else {
		add_total(&m, true, all_seconds);
	}
	for (node_id i = 0; i < g->nnodes; i++)
		if (!may_go(&m, i))
			add_instants(&m, i);
	add_ends(&m);
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
