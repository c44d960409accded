/* Lower bounds of the memory of a program: sums of blocks in use together. */
#include "config.h"

#include "compiler/cost/program_bounds_build.h"
#include "plan/plan.h"

static bool is_kept(const tensor *t)
{
	return t->kind == TENSOR_STATE || t->kind == TENSOR_CONSTANT ||
	       t->output;
}

/* The node that computes the next value of a state; NONE. */
static node_id updates(const bound_maker *m, tensor_id t)
{
	const tensor *x = &m->g->tensors[t];
	bool stays = x->kind != TENSOR_STATE || x->next == NONE ||
		     x->next == t;
	return stays ? NONE : m->g->tensors[x->next].producer;
}

/* Whether a tensor that is kept has its block for itself when a node runs.
 * From the state's last reader on until its next value is computed, a state's
 * block may be another result's. */
static bool has_block(const bound_maker *m, tensor_id t, node_id n)
{
	node_id by = updates(m, t);
	return is_kept(&m->g->tensors[t]) &&
	       (by == NONE || (m->above[n] & node_bit(by)));
}

/* Whether a tensor has its block after a node and all nodes before it have run,
 * in any order, because it is still needed.  The node that runs next may have
 * fetched early; one with another node in between has not. */
static bool is_needed_after(const bound_maker *m, tensor_id t, node_id n)
{
	node_set left = m->readers[t] & m->below[n];
	if (has_block(m, t, n))
		return true;
	for (; left; left &= left - 1)
		if (m->below[n] & m->above[__builtin_ctzll(left)])
			return true;
	return false;
}

static bool is_there_before(const bound_maker *m, tensor_id t, node_id n)
{
	const tensor *x = &m->g->tensors[t];
	if (x->kind == TENSOR_RESULT)
		return m->above[n] & node_bit(x->producer);
	return x->kind == TENSOR_STATE || x->output || m->readers[t];
}

/* A tensor that becomes a state is in the state's place, which is counted
 * already. */
static bool is_live(const bound_maker *m, tensor_id t, node_id n)
{
	return !m->next[t] && is_there_before(m, t, n) &&
	       is_needed_after(m, t, n);
}

/* Whether a node may fetch more of a tensor in place of the block, because a
 * node merged into it reads the tensor too. */
static bool may_fetch_more(const bound_maker *m, const time_model_pair *p,
			   const time_model_cost *c)
{
	return c->copy == 0 && bound_is_shared(m, p) &&
	       bound_may_grow(m, p->node) &&
	       !is_needed_after(m, p->tensor, p->node);
}

static double either(const bound_maker *m, const time_model_pair *p,
		     const time_model_cost *c, int64_t stored)
{
	bool stays = is_needed_after(m, p->tensor, p->node);
	if (may_fetch_more(m, p, c))
		return 0;
	if (c->copy == 0)
		return (double)stored;
	return (double)(c->copy + (stays ? stored : 0));
}

static double least_of_both(const bound_maker *m, const time_model_pair *p,
			    const time_model_cost *c, int64_t stored)
{
	bool stays = is_needed_after(m, p->tensor, p->node);
	if (may_fetch_more(m, p, c))
		return 0;
	return (double)(c->copy == 0 || stays || stored < c->copy ? stored
								  : c->copy);
}

static double both(const bound_maker *m, const time_model_pair *p,
		   const time_model_cost *c, int64_t stored)
{
	(void)m;
	(void)p;
	return (double)(c->copy + stored);
}

static double result(const bound_maker *m, const time_model_pair *p,
		     const time_model_cost *c, int64_t stored)
{
	(void)m;
	(void)p;
	return (double)(c->copy ? c->copy : stored);
}

static double moved_result(const bound_maker *m, const time_model_pair *p,
			   const time_model_cost *c, int64_t stored)
{
	(void)m;
	(void)p;
	return (double)(c->copy && c->shard ? c->copy + c->shard
					    : c->copy + stored);
}

/* Whether the result may replace an input in place: one of the node's, or of a
 * node merged into it. */
static bool may_replace(const bound_maker *m, node_id id)
{
	const node *n = &m->g->nodes[id];
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (kernel_in_place(n->kernel, i))
			return true;
	return bound_may_grow(m, id);
}

/* The bytes of a block that may be given up, but only for a copy of it: the
 * smaller of both.  A node with others merged into it may fetch more. */
static double block_or_copy(const bound_maker *m, const time_model_pair *p,
			    const time_model_cost *c, int64_t stored)
{
	if (bound_may_grow(m, p->node) && bound_is_shared(m, p))
		return 0;
	return (double)(c->copy == 0 || stored < c->copy ? stored : c->copy);
}

/* A node other than n that still reads a tensor after n has run, or that
 * updates it, before or after n; NONE. */
static node_id other_reader(const bound_maker *m, tensor_id t, node_id n)
{
	node_id by = updates(m, t);
	node_set left = m->readers[t] & m->below[n];
	if (by != NONE)
		left = m->readers[t] & node_bit(by) & ~node_bit(n);
	return left ? __builtin_ctzll(left) : NONE;
}

/* Adds a tensor that need not keep its block: it, or a copy. */
static void add_unsettled(bound_maker *m, program_bound *f, tensor_id t,
			  node_id n)
{
	node_id by = other_reader(m, t, n);
	if (by == NONE || m->next[t] || !is_there_before(m, t, n))
		return;
	for (int i = m->x->first[by]; i < m->x->first[by + 1]; i++) {
		const time_model_pair *p = &m->x->pairs.at[i];
		if (p->inputs && p->tensor == t)
			bound_add_pair(m, f, p, block_or_copy);
	}
}

/* The bytes in use in addition to those that a node reads and computes. */
static program_bound others(bound_maker *m, node_id n)
{
	program_bound f = { 0 };
	for (tensor_id t = 0; t < m->g->ntensors; t++) {
		if (m->readers[t] & node_bit(n))
			continue;
		if (is_live(m, t, n))
			bound_add_block(m, &f, t);
		else
			add_unsettled(m, &f, t, n);
	}
	return f;
}

static void add_inputs(bound_maker *m, program_bound *f, node_id n,
		       counting count)
{
	for (int i = m->x->first[n]; i < m->x->first[n + 1]; i++) {
		const time_model_pair *p = &m->x->pairs.at[i];
		if (p->inputs)
			bound_add_pair(m, f, p, count);
	}
}

/* Whether an input is certain to be in its stored block whenever another is
 * fetched for the node.  That one may be fetched early, before the last node
 * runs, so a result is certain to be there only if another node comes
 * between. */
static bool is_there_early(const bound_maker *m, tensor_id t, node_id n)
{
	node_id by = m->g->tensors[t].producer;
	return by == NONE || (m->below[by] & m->above[n]);
}

/* Adds the inputs that are present while one is fetched. */
static void add_early_inputs(bound_maker *m, program_bound *f, node_id n,
			     const time_model_pair *fetched)
{
	for (int i = m->x->first[n]; i < m->x->first[n + 1]; i++) {
		const time_model_pair *p = &m->x->pairs.at[i];
		if (p->inputs && p != fetched &&
		    is_there_early(m, p->tensor, n))
			bound_add_pair(m, f, p, least_of_both);
	}
}

static void add_bytes(bound_maker *m, program_bound f)
{
	vec_push(m->to->arena, &m->to->bytes, f);
}

/* Adds the instants at which a node fetches, runs, and passes on. */
static void add_instants(bound_maker *m, node_id n)
{
	const time_model_pair *out = &m->x->pairs.at[m->x->first[n]];
	bool next = m->next[out->tensor];
	for (int i = m->x->first[n]; i < m->x->first[n + 1]; i++) {
		const time_model_pair *p = &m->x->pairs.at[i];
		if (!p->inputs || bound_is_shared(m, p))
			continue;
		program_bound f = others(m, n);
		bound_add_pair(m, &f, p, both);
		add_early_inputs(m, &f, n, p);
		add_bytes(m, f);
	}
	program_bound run = others(m, n);
	add_inputs(m, &run, n, either);
	if (!next && !may_replace(m, n))
		bound_add_pair(m, &run, out, result);
	add_bytes(m, run);
	program_bound done = others(m, n);
	for (int i = m->x->first[n]; i < m->x->first[n + 1]; i++) {
		const time_model_pair *p = &m->x->pairs.at[i];
		if (p->inputs && is_live(m, p->tensor, n))
			bound_add_block(m, &done, p->tensor);
		else if (p->inputs)
			add_unsettled(m, &done, p->tensor, n);
	}
	if (!next)
		bound_add_pair(m, &done, out, moved_result);
	add_bytes(m, done);
}

/* Adds the instants before the first node and after the last. */
static void add_ends(bound_maker *m)
{
	program_bound begin = { 0 }, end = { 0 };
	for (tensor_id t = 0; t < m->g->ntensors; t++) {
		const tensor *x = &m->g->tensors[t];
		bool used = x->kind == TENSOR_STATE || x->output ||
			    m->readers[t];
		if (used && x->kind != TENSOR_RESULT)
			bound_add_block(m, &begin, t);
		if (used && is_kept(x))
			bound_add_block(m, &end, t);
	}
	add_bytes(m, begin);
	add_bytes(m, end);
}

void bound_add_memories(bound_maker *m)
{
	for (node_id i = 0; i < m->g->nnodes; i++)
		if (!bound_may_go(m, i))
			add_instants(m, i);
	add_ends(m);
}
