#include "config.h"

#include "compiler/graph/passes.h"

bool graph_binds(const tensor *t)
{
	return (t->kind == TENSOR_STATE || t->parameter) &&
	       t->producer == NONE && tensor_nelem(&t->type) > 1;
}

/* ---- what is bound together ---------------------------------------------- */

static node_id root_of(node_id *root, node_id n)
{
	while (root[n] != n)
		n = root[n] = root[root[n]];
	return n;
}

/* Merges the sets of m and n.  The least node is the root of a set. */
static void join(node_id *root, node_id m, node_id n)
{
	m = root_of(root, m);
	n = root_of(root, n);
	root[m > n ? m : n] = m > n ? n : m;
}

/* Notes that node n reads or computes what is stored in place of a state. */
static void hold(graph_passes *p, tensor_id state, node_id n)
{
	if (p->holder[state] < 0)
		p->holder[state] = n;
	join(p->root, p->holder[state], n);
}

/* By tensor: the state in whose place it is stored; NONE. */
static tensor_id *find_states(arena *a, const graph *g)
{
	tensor_id *state_of = ARENA_ARRAY(a, tensor_id, g->ntensors);
	for (tensor_id i = 0; i < g->ntensors; i++)
		state_of[i] = NONE;
	for (tensor_id i = 0; i < g->ntensors; i++) {
		const tensor *t = &g->tensors[i];
		if (!graph_binds(t))
			continue;
		state_of[i] = i;
		if (t->kind == TENSOR_STATE && t->next != NONE)
			state_of[t->next] = i;
	}
	return state_of;
}

static void bind_nodes(graph_passes *p, const graph *g)
{
	arena *tmp = arena_new();
	const tensor_id *state_of = find_states(tmp, g);
	for (tensor_id t = 0; t < g->ntensors; t++)
		p->holder[t] = NONE;
	for (node_id n = 0; n < g->nnodes; n++)
		p->root[n] = n;
	for (node_id n = 0; n < g->nnodes; n++) {
		const node *x = &g->nodes[n];
		for (int i = 0; i < x->kernel->ninputs; i++)
			if (state_of[x->inputs[i]] != NONE)
				hold(p, state_of[x->inputs[i]], n);
		p->overwrites[n] = state_of[x->output] != NONE;
		if (p->overwrites[n])
			hold(p, state_of[x->output], n);
	}
	for (node_id n = 0; n < g->nnodes; n++)
		p->root[n] = root_of(p->root, n);
	arena_free(tmp);
}

/* ---- passes -------------------------------------------------------------- */

static void find_backward(graph_passes *p, const graph *g)
{
	for (node_id n = 0; n < g->nnodes; n++) {
		const node *x = &g->nodes[n];
		p->backward[n] = x->forward != NONE;
		for (int i = 0; i < x->kernel->ninputs; i++) {
			node_id from = g->tensors[x->inputs[i]].producer;
			p->backward[n] |= from != NONE && p->backward[from];
		}
	}
}

/* The node that computes the largest computed input of a node, the last of
 * several.  NONE if no input is computed. */
static node_id largest_source(const graph *g, const node *x)
{
	node_id found = NONE;
	int64_t most = -1;
	for (int i = 0; i < x->kernel->ninputs; i++) {
		const tensor *t = &g->tensors[x->inputs[i]];
		int64_t nbytes = tensor_nbytes(&t->type);
		if (t->producer == NONE || nbytes < most ||
		    (nbytes == most && t->producer < found))
			continue;
		most = nbytes;
		found = t->producer;
	}
	return found;
}

static node_id partner_of(const graph_passes *p, const graph *g, node_id n)
{
	const node *x = &g->nodes[n];
	if (!p->backward[n])
		return n;
	if (x->forward != NONE)
		return x->forward;
	if (p->root[n] != n)
		return p->partner[p->root[n]];
	node_id from = largest_source(g, x);
	return from == NONE ? NONE : p->partner[from];
}

graph_passes graph_passes_of(arena *a, const graph *g)
{
	graph_passes p = { ARENA_ARRAY(a, bool, g->nnodes),
			   ARENA_ARRAY(a, node_id, g->nnodes),
			   ARENA_ARRAY(a, node_id, g->nnodes),
			   ARENA_ARRAY(a, node_id, g->ntensors),
			   ARENA_ARRAY(a, bool, g->nnodes) };
	bind_nodes(&p, g);
	find_backward(&p, g);
	for (node_id n = 0; n < g->nnodes; n++)
		p.partner[n] = partner_of(&p, g, n);
	return p;
}
