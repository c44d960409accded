#include "config.h"

#include "compiler/cost/formulate.h"

#include "compiler/analysis/strategy.h"
#include "compiler/cost/byte_model.h"
#include "compiler/cost/pair_costs.h"
#include "compiler/graph/turns.h"

/* ---- choices ----------------------------------------------------------- */

choices choices_one(int c)
{
	return (choices){ 1, { (signed char)c } };
}

static void choices_add(choices *c, int d)
{
	c->at[c->n++] = (signed char)d;
}

choices choices_or_whole(choices c)
{
	choices all = choices_one(CUT_NONE);
	for (int i = 0; i < c.n; i++)
		if (c.at[i] != CUT_NONE)
			choices_add(&all, c.at[i]);
	return all;
}

bool choices_have(const choices *c, int d)
{
	for (int i = 0; i < c->n; i++)
		if (c->at[i] == d)
			return true;
	return false;
}

/* Whether an extent n, cut by the axes before, is long enough in every
 * group. */
static bool long_enough(const step *s, int64_t n, const cuts *c, int d)
{
	const mesh *m = &s->as->mesh;
	int axis = step_axis(s);
	return cuts_smallest(n, m, c, axis, d) >= m->size[axis];
}

choices step_dims(const step *s, tensor_id t)
{
	const tensor_type *type = &s->g->tensors[t].type;
	const cuts *c = &s->as->tensor_cuts[t];
	choices all = { 0 };
	for (int d = 0; d < type->ndim; d++)
		if (long_enough(s, type->dims[d], c, d))
			choices_add(&all, d);
	return all.n ? all : choices_one(CUT_NONE);
}

reducer step_reducer(const step *s, node_id n)
{
	mesh before = s->as->mesh;
	before.naxes = step_axis(s);
	return layout_reducer(&before, s->g->nodes[n].kernel,
			      &s->as->node_cuts[n]);
}

choices step_vars(const step *s, node_id n)
{
	const kernel *k = s->g->nodes[n].kernel;
	const cuts *c = &s->as->node_cuts[n];
	reducer before = step_reducer(s, n);
	choices all = { 0 };
	for (int v = 0; v < k->nvars; v++) {
		reducer r = strategy_reducer(k, v);
		bool agree = r == before || !r || !before;
		if (agree && long_enough(s, k->vars[v].extent, c, v) &&
		    strategy_offered(k, v, NULL))
			choices_add(&all, v);
	}
	return all.n ? all : choices_one(CUT_NONE);
}

/* ---- ties -------------------------------------------------------------- */

/* The tensor that decides for t, as known so far. */
static tensor_id decider(tensor_id *tied, tensor_id t)
{
	while (tied[t] != t)
		t = tied[t] = tied[tied[t]];
	return t;
}

tensor_id *tied_tensors(arena *a, const graph *g)
{
	tensor_id *tied = ARENA_ARRAY(a, tensor_id, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++)
		tied[t] = t;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		if (x->kind != TENSOR_STATE || x->next == NONE)
			continue;
		tensor_id first = decider(tied, t);
		tensor_id other = decider(tied, x->next);
		if (first < other)
			tied[other] = first;
		else
			tied[first] = other;
	}
	for (tensor_id t = 0; t < g->ntensors; t++)
		tied[t] = decider(tied, t);
	return tied;
}

/* ---- the problem ------------------------------------------------------- */

static int add_tensor(formulation *f, tensor_id t)
{
	tensor_id by = f->tied[t];
	if (f->tensor_var[by] < 0)
		f->tensor_var[by] = problem_add_var(f->problem,
						    f->tensors[by].n);
	return f->tensor_var[t] = f->tensor_var[by];
}

static void add_node(formulation *f, pair_cache *cache, node_id id)
{
	const step *s = f->step;
	const node *n = &s->g->nodes[id];
	pair p = { .kernel = n->kernel, .runs = graph_runs(s->g, id),
		   .vars = &f->nodes[id],
		   .node_cuts = &s->as->node_cuts[id] };
	for (int i = 0; i < n->kernel->ninputs; i++)
		add_tensor(f, n->inputs[i]);
	int var = problem_add_var(f->problem, f->nodes[id].n);
	f->node_var[id] = var;
	for (int i = -1; i < n->kernel->ninputs; i++) {
		tensor_id t = i < 0 ? n->output : n->inputs[i];
		p.inputs = i < 0 ? 0 : byte_model_same_inputs(n, i);
		if (p.inputs && __builtin_ctz(p.inputs) != i)
			continue;
		p.tensor_cuts = &s->as->tensor_cuts[t];
		p.dims = &f->tensors[f->tied[t]];
		problem_add_table(f->problem, var, add_tensor(f, t),
				  pair_table(cache, &p));
	}
}

formulation formulate(arena *a, const step *s, const choices *tensors,
		      const choices *nodes)
{
	const graph *g = s->g;
	formulation f = { s, problem_new(a), tensors, nodes,
			  tied_tensors(a, g), ARENA_ARRAY(a, int, g->ntensors),
			  ARENA_ARRAY(a, int, g->nnodes),
			  ARENA_ARRAY(a, int, g->nnodes + 1) };
	pair_cache *cache = pair_cache_new(a, &s->as->mesh);
	f.problem->along_flow = true;
	for (tensor_id t = 0; t < g->ntensors; t++)
		f.tensor_var[t] = -1;
	for (node_id n = 0; n < g->nnodes; n++) {
		f.first[n] = f.problem->tables.n;
		add_node(&f, cache, n);
	}
	for (tensor_id t = 0; t < g->ntensors; t++)
		add_tensor(&f, t);
	f.first[g->nnodes] = f.problem->tables.n;
	return f;
}

int formulation_dim(const formulation *f, tensor_id t, const int *value)
{
	return f->tensors[f->tied[t]].at[value[f->tensor_var[t]]];
}

int formulation_strategy(const formulation *f, node_id n, const int *value)
{
	return f->nodes[n].at[value[f->node_var[n]]];
}

int64_t formulation_node_bytes(const formulation *f, node_id n,
			       const int *value)
{
	int64_t sum = 0;
	for (int i = f->first[n]; i < f->first[n + 1]; i++) {
		const problem_table *t = &f->problem->tables.at[i];
		int width = f->problem->vars.at[t->y].nvalues;
		sum = cost_add(sum, t->cost[value[t->x] * width +
					    value[t->y]]);
	}
	return sum;
}
