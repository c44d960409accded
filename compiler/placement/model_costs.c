#include "config.h"

#include "compiler/placement/model_costs.h"

#include "compiler/graph/passes.h"
#include "compiler/placement/model_program.h"
#include "kernel/region.h"

typedef struct converter {
	arena *a;    /* for the conversion */
	arena *keep; /* for the cost graph */
	diag_sink *s;
	const graph *g;
	const topology *t;
	const char *path;
	cost_builder *b;
	int *op_of_node, *op_of_tensor; /* -1 */
	graph_passes passes;
	const node_run *runs; /* by node */
} converter;

/* Whether a tensor is given by an operator of its own. */
static bool is_fed(const tensor *t)
{
	return t->producer == NONE && !graph_binds(t) &&
	       tensor_nelem(&t->type) > 1;
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
				    1e3 * (l->latency + bytes /
					   topology_level_bandwidth(l)));
	return v >= 0;
}

/* Adds operators for tensors that node n is the first to read and no node
 * computes. */
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

/* The operator, plus 1, in whose result's place a node's result is stored. */
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
	double seconds = topology_kernel_seconds(c->t, x->kernel, &space, &w,
						 1);
	int64_t bytes = tensor_nbytes(&c->g->tensors[x->output].type);
	if (!add_sources(c, n))
		return false;
	const cost_op op = { .ms = 1e3 * seconds,
			     .resident_nbytes = resident[n],
			     .gradient_nbytes = gradients[n],
			     .colour = c->passes.root[n],
			     .backward = c->passes.backward[n],
			     .once = c->passes.backward[n] &&
				     x->forward == NONE,
			     .step = c->runs[n].step + 1,
			     .over = over_of(c, n),
			     .output = c->g->tensors[x->output].output };
	c->op_of_node[n] = cost_builder_count(c->b);
	c->op_of_tensor[x->output] = c->op_of_node[n];
	return add_op(c, x->name, op,
		      c->passes.overwrites[n] ? 0 : (double)bytes);
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
		if (c->passes.holder[i] < 0)
			continue;
		resident[c->passes.holder[i]] += nbytes;
		if (t->parameter && t->next != NONE)
			gradients[c->passes.holder[i]] += nbytes;
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
	for (int n = 0; n < c->g->nnodes; n++) {
		node_id partner = c->passes.partner[n];
		if (c->passes.backward[n] && partner >= 0)
			cost_builder_at(c->b, c->op_of_node[n])->mirror =
				c->op_of_node[partner];
	}
}

cost_graph *cost_graph_of_model(arena *a, diag_sink *s, const graph *g,
				const topology *t, const char *path)
{
	arena *work = arena_new();
	converter c = { work, a, s, g, t, path, cost_builder_new(a, s, path),
			ARENA_ARRAY(work, int, g->nnodes),
			ARENA_ARRAY(work, int, g->ntensors),
			graph_passes_of(work, g),
			model_program(work, s, g) };
	cost_graph *new = NULL;
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
