#include "config.h"

#include "compiler/placement/model_costs.h"

#include "compiler/placement/model_program.h"
#include "kernel/region.h"

typedef struct converter {
	arena *a;    /* of the conversion */
	arena *keep; /* of the cost graph */
	diag_sink *s;
	const graph *g;
	const topology *t;
	const char *path;
	cost_builder *b;
	int *op_of_node, *op_of_tensor; /* -1 */
	int *root; /* [node]: of nodes that are bound together, a tree */
	int *holder; /* [tensor]: the node that a state lies with; -1 */
	bool *overwrites; /* [node]: its output lies where a state does */
	bool *backward;	  /* [node] */
	const node_run *runs; /* [node] */
} converter;

/* Whether the nodes that read a tensor have to lie together. */
static bool binds(const tensor *t)
{
	return (t->kind == TENSOR_STATE || t->parameter) &&
	       t->producer == NONE && tensor_nelem(&t->type) > 1;
}

/* Whether a tensor comes from an operator of its own. */
static bool is_fed(const tensor *t)
{
	return t->producer == NONE && !binds(t) && tensor_nelem(&t->type) > 1;
}

/* ---- what is bound together ---------------------------------------------- */

static int root_of(int *root, int n)
{
	while (root[n] != n)
		n = root[n] = root[root[n]];
	return n;
}

/* The least number is the root. */
static void join(int *root, int m, int n)
{
	m = root_of(root, m);
	n = root_of(root, n);
	root[m > n ? m : n] = m > n ? n : m;
}

/* Node n reads or computes what lies where a state does. */
static void hold(converter *c, tensor_id state, node_id n)
{
	if (c->holder[state] < 0)
		c->holder[state] = n;
	join(c->root, c->holder[state], n);
}

static void bind_nodes(converter *c)
{
	const graph *g = c->g;
	tensor_id *state_of = ARENA_ARRAY(c->a, tensor_id, g->ntensors);
	for (int i = 0; i < g->ntensors; i++) {
		c->holder[i] = -1;
		state_of[i] = NONE;
	}
	for (int i = 0; i < g->ntensors; i++) {
		const tensor *t = &g->tensors[i];
		if (!binds(t))
			continue;
		state_of[i] = i;
		if (t->kind == TENSOR_STATE && t->next != NONE)
			state_of[t->next] = i;
	}
	for (int n = 0; n < g->nnodes; n++)
		c->root[n] = n;
	for (int n = 0; n < g->nnodes; n++) {
		const node *x = &g->nodes[n];
		for (int i = 0; i < x->kernel->ninputs; i++)
			if (state_of[x->inputs[i]] != NONE)
				hold(c, state_of[x->inputs[i]], n);
		c->overwrites[n] = state_of[x->output] != NONE;
		if (c->overwrites[n])
			hold(c, state_of[x->output], n);
	}
}

/* ---- passes -------------------------------------------------------------- */

/* The backward pass: gradients, what is computed again for them, and all that
 * needs them. */
static void find_backward(converter *c)
{
	const graph *g = c->g;
	for (int n = 0; n < g->nnodes; n++) {
		const node *x = &g->nodes[n];
		c->backward[n] = x->forward != NONE;
		for (int i = 0; i < x->kernel->ninputs; i++) {
			node_id from = g->tensors[x->inputs[i]].producer;
			c->backward[n] |= from != NONE && c->backward[from];
		}
	}
}

/* The node of the forward pass that a node of the backward pass is there for:
 * whose gradient it computes, whose weight it changes, or that of the last node
 * whose output it reads; -1. */
static int partner(const converter *c, const int *partners, int n)
{
	const node *x = &c->g->nodes[n];
	int first = root_of(c->root, n), last = -1;
	if (x->forward != NONE)
		return x->forward;
	if (!c->backward[first])
		return first;
	for (int i = 0; i < x->kernel->ninputs; i++) {
		node_id from = c->g->tensors[x->inputs[i]].producer;
		last = from > last ? from : last;
	}
	if (last < 0 || !c->backward[last])
		return last;
	return partners[last];
}

/* ---- operators and edges ------------------------------------------------- */

static bool add_op(converter *c, const char *name, cost_op op, double bytes)
{
	const topology_level *l = &c->t->levels[c->t->nlevels - 1];
	op.id = arena_printf(c->keep, "%d", cost_builder_count(c->b));
	op.name = name;
	op.core_ms = op.mirror = -1;
	if (op.ms > COST_GRAPH_MAX_MS) {
		diag_error_in(c->s, DIAG_COST_GRAPH_INVALID, c->path,
			      "'%.100s' takes more than 10^9 ms", name);
		return false;
	}
	int v = cost_builder_op(c->b, &op);
	if (v >= 0)
		cost_builder_result(c->b, v, bytes,
				    1e3 * (l->latency + bytes / l->bandwidth));
	return v >= 0;
}

/* The operators of what node n is the first to read and no node computes. */
static bool add_sources(converter *c, node_id n)
{
	const node *x = &c->g->nodes[n];
	bool good = true;
	for (int i = 0; i < x->kernel->ninputs && good; i++) {
		const tensor *t = &c->g->tensors[x->inputs[i]];
		const cost_op op = { .colour = -1,
				     .constant = t->kind == TENSOR_CONSTANT,
				     .output = t->output };
		if (!is_fed(t) || c->op_of_tensor[x->inputs[i]] >= 0)
			continue;
		c->op_of_tensor[x->inputs[i]] = cost_builder_count(c->b);
		good = add_op(c, t->name, op, (double)tensor_nbytes(&t->type));
	}
	return good;
}

/* The operator, + 1, whose result's place a node's result takes. */
static int over_of(const converter *c, node_id n)
{
	tensor_id t = c->runs[n].over;
	if (t == NODE_OVER_STATE)
		return COST_OVER_STATE;
	return t == NODE_OVER_NOTHING ? 0 : c->op_of_tensor[t] + 1;
}

static bool add_node(converter *c, node_id n, const int64_t *resident,
		     const int64_t *gradients)
{
	const node *x = &c->g->nodes[n];
	box space = kernel_space(x->kernel);
	kernel_work w = kernel_work_of(x->kernel, &space);
	double seconds = topology_kernel_seconds(c->t, x->kernel->type,
						 w.flops, w.bytes);
	int64_t bytes = tensor_nbytes(&c->g->tensors[x->output].type);
	if (!add_sources(c, n))
		return false;
	const cost_op op = { .ms = 1e3 * seconds,
			     .resident_nbytes = resident[n],
			     .gradient_nbytes = gradients[n],
			     .colour = root_of(c->root, n),
			     .backward = c->backward[n],
			     .once = c->backward[n] && x->forward == NONE,
			     .step = c->runs[n].step + 1,
			     .over = over_of(c, n),
			     .output = c->g->tensors[x->output].output };
	c->op_of_node[n] = cost_builder_count(c->b);
	c->op_of_tensor[x->output] = c->op_of_node[n];
	return add_op(c, x->name, op, c->overwrites[n] ? 0 : (double)bytes);
}

static bool add_nodes(converter *c)
{
	const graph *g = c->g;
	int64_t *resident = ARENA_ARRAY(c->a, int64_t, g->nnodes);
	int64_t *gradients = ARENA_ARRAY(c->a, int64_t, g->nnodes);
	for (int i = 0; i < g->ntensors; i++) {
		const tensor *t = &g->tensors[i];
		int64_t nbytes = tensor_nbytes(&t->type);
		c->op_of_tensor[i] = -1;
		if (c->holder[i] < 0)
			continue;
		resident[c->holder[i]] += nbytes;
		if (t->parameter && t->next != NONE)
			gradients[c->holder[i]] += nbytes;
	}
	for (int n = 0; n < g->nnodes; n++)
		if (!add_node(c, n, resident, gradients))
			return false;
	return true;
}

static bool add_edges(converter *c)
{
	const graph *g = c->g;
	for (int n = 0; n < g->nnodes; n++) {
		const node *x = &g->nodes[n];
		for (int i = 0; i < x->kernel->ninputs; i++) {
			int u = c->op_of_tensor[x->inputs[i]], twice = 0;
			for (int j = 0; j < i; j++)
				twice |= x->inputs[j] == x->inputs[i];
			if (u >= 0 && !twice &&
			    !cost_builder_edge(c->b, u, c->op_of_node[n]))
				return false;
		}
	}
	return true;
}

static void set_mirrors(converter *c)
{
	int *partners = ARENA_ARRAY(c->a, int, c->g->nnodes);
	for (int n = 0; n < c->g->nnodes; n++) {
		partners[n] = c->backward[n] ? partner(c, partners, n) : -1;
		if (partners[n] >= 0)
			cost_builder_at(c->b, c->op_of_node[n])->mirror =
				c->op_of_node[partners[n]];
	}
}

cost_graph *cost_graph_of_model(arena *a, diag_sink *s, const graph *g,
				const topology *t, const char *path)
{
	arena *work = arena_new();
	converter c = { work, a, s, g, t, path, cost_builder_new(a, s, path),
			ARENA_ARRAY(work, int, g->nnodes),
			ARENA_ARRAY(work, int, g->ntensors),
			ARENA_ARRAY(work, int, g->nnodes),
			ARENA_ARRAY(work, int, g->ntensors),
			ARENA_ARRAY(work, bool, g->nnodes),
			ARENA_ARRAY(work, bool, g->nnodes),
			model_program(work, s, g) };
	cost_graph *new = NULL;
	bind_nodes(&c);
	find_backward(&c);
	if (c.runs && add_nodes(&c) && add_edges(&c)) {
		set_mirrors(&c);
		new = cost_builder_finish(c.b, COST_FORMAT_MODEL);
	}
	if (new) {
		new->integer_ids = new->bound = true;
		new->memory_nbytes = t->memory ? t->memory : -1;
		new->cores = 0;
	}
	arena_free(work);
	return new;
}
