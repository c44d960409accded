/* The data-parallel planner.  Activations and the operators that compute them
 * are cut along the batch.  Everything else is replicated.
 *
 * The batch dimension is taken from the model, or from the division into
 * micro-batches, if these name one.  Otherwise it is the first dimension of the
 * model's inputs, or the second where that divides more work (an unrolled loop
 * has time first).
 *
 * The batch is followed through the operators by their reads, never by their
 * names.  A variable carries the batch of an input if dividing it into as many
 * parts as the batch has elements makes each part read exactly its own element
 * of the batch.  A dimension into which the batch was merged still counts as
 * many blocks as the batch has elements.  So the batch survives transposes and
 * reshapes, also those that merge it with other dimensions and split it off
 * again.  It ends at a reduction over it, whose partial results are combined.
 *
 * The sharded variant also divides work done once per step, after the turns of
 * micro-batches.  It cuts the optimizer's states, and the weights that the
 * turns do not read, such as the originals of 16-bit copies.  Each is cut along
 * one of its dimensions.  The gradients read there and the operators that
 * update the states are cut with them (Rajbhandari et al., SC'20). */
#include "config.h"

#include "compiler/analysis/strategy.h"
#include "compiler/cost/aligned_dims.h"
#include "compiler/graph/turns.h"
#include "compiler/planners/planner.h"

typedef struct batch {
	int k;	       /* devices */
	int *dim;      /* by tensor; CUT_NONE: it has no batch */
	/* elements of the batch, by tensor; 0 where neither the tensor nor its
	 * node has one */
	int64_t *n;
	int *var;      /* by node; CUT_NONE: no variable carries the batch */
	int nstranded; /* nodes that read a batch but cannot be cut along it */
	node_id stranded; /* the first of them */
} batch;

/* The number of inputs of a node whose batch is carried by variable v.  Sets
 * *nelem to the number of elements of the first of these batches. */
static int carried(const batch *b, const node *n, int v, int64_t *nelem)
{
	int count = 0;
	for (int i = 0; i < n->kernel->ninputs; i++) {
		tensor_id t = n->inputs[i];
		if (b->dim[t] != CUT_NONE &&
		    var_follows_dim(n->kernel, v, i, b->dim[t], b->n[t]) &&
		    !count++)
			*nelem = b->n[t];
	}
	return count;
}

/* The variable that carries the batch of the most inputs.  Of several the
 * lowest, so that an output variable is preferred to a reduction. */
static int find_var(const batch *b, const node *n, int64_t *nelem)
{
	int best = CUT_NONE, most = 0;
	for (int v = 0; v < n->kernel->nvars; v++) {
		int64_t m = 0;
		int count = carried(b, n, v, &m);
		if (count > most && strategy_offered(n->kernel, v, NULL)) {
			most = count;
			best = v;
			*nelem = m;
		}
	}
	return best;
}

static bool reads_batch(const batch *b, const node *n)
{
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (b->dim[n->inputs[i]] != CUT_NONE)
			return true;
	return false;
}

enum { AS_SAID = -1 };

/* Whether a tensor brings a batch into the graph: an input, or a state that a
 * run without training leaves for the next run, such as the caches of a
 * decoder. */
static bool brings_batch(const graph *g, tensor_id t)
{
	const tensor *x = &g->tensors[t];
	return x->kind == TENSOR_INPUT ||
	       (x->kind == TENSOR_STATE && x->next != NONE && !x->parameter &&
		!g->training);
}

/* The batch dimension that the model or the turns name for an input; NONE if
 * they name none. */
static int said_dim(const graph *g, tensor_id t)
{
	if (!brings_batch(g, t))
		return NONE;
	return g->tensors[t].batch == 0 && g->turns ? g->turns->cut[t]
						    : g->tensors[t].batch - 1;
}

/* The least number of samples of the inputs whose batch is named; 0 if none
 * is. */
static int64_t said_samples(const graph *g)
{
	int64_t least = 0;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		int d = said_dim(g, t);
		int64_t n = d == NONE ? 0 : g->tensors[t].type.dims[d];
		if (n > 0 && (least == 0 || n < least))
			least = n;
	}
	return least;
}

/* Reduces the batch of what turns divide to the elements of the smallest turn.
 * An input that all turns share, because something before them reads all of it,
 * is replicated: divided, a device would have either all samples of a turn or
 * none. */
static void keep_to_turn(batch *b, const graph *g)
{
	const graph_turns *t = g->turns;
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *n = &g->nodes[id];
		if (t->divided[id] == NONE)
			continue;
		int64_t *own = &b->n[n->output];
		*own = *own / t->batch * (t->batch / t->turns);
		for (int i = 0; i < n->kernel->ninputs; i++) {
			tensor_id from = n->inputs[i];
			if (g->tensors[from].kind == TENSOR_INPUT &&
			    t->cut[from] == NONE)
				b->dim[from] = CUT_NONE;
		}
	}
	for (tensor_id i = 0; i < g->ntensors; i++)
		if (g->tensors[i].kind == TENSOR_INPUT && t->cut[i] != NONE)
			b->n[i] = g->tensors[i].type.dims[t->cut[i]];
}

/* Follows the batch from dimension d of the inputs, or from the named
 * dimensions if d is AS_SAID.  Works on the graph with all samples: there an
 * input that the turns divide has the same extent for all readers. */
static batch *follow(arena *a, const graph *g, int k, int d)
{
	batch *b = ARENA_NEW(a, batch);
	const graph *all = g->whole ? g->whole : g;
	b->k = k;
	b->dim = ARENA_ARRAY(a, int, g->ntensors);
	b->n = ARENA_ARRAY(a, int64_t, g->ntensors);
	b->var = ARENA_ARRAY(a, int, g->nnodes);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &all->tensors[t];
		int at = d == AS_SAID ? said_dim(g, t) : d;
		bool has = brings_batch(g, t) && at != NONE &&
			   x->type.ndim > at && x->type.dims[at] > 1;
		b->dim[t] = has ? at : CUT_NONE;
		b->n[t] = has ? x->type.dims[at] : 0;
	}
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *n = &all->nodes[id];
		int v = find_var(b, n, &b->n[n->output]);
		b->var[id] = v;
		b->dim[n->output] = v < n->kernel->nout ? v : CUT_NONE;
		if (v == CUT_NONE && reads_batch(b, n) && !b->nstranded++)
			b->stranded = id;
	}
	if (g->turns)
		keep_to_turn(b, g);
	return b;
}

/* The number of iteration points in nodes whose output the batch divides. */
static double divided(const batch *b, const graph *g)
{
	double sum = 0;
	for (node_id n = 0; n < g->nnodes; n++) {
		const kernel *k = g->nodes[n].kernel;
		if (b->var[n] != CUT_NONE && b->var[n] < k->nout)
			sum += (double)kernel_points(k);
	}
	return sum;
}

static batch *find_batch(arena *a, const graph *g, int k)
{
	if (said_samples(g) > 0)
		return follow(a, g, k, AS_SAID);
	batch *first = follow(a, g, k, 0);
	if (!first->nstranded)
		return first;
	batch *second = follow(a, g, k, 1);
	return divided(second, g) > divided(first, g) ? second : first;
}

const int *planner_batch(arena *a, const graph *g, int k)
{
	return find_batch(a, g, k)->var;
}

/* ---- states in parts --------------------------------------------------- */

/* Whether a node runs once per step. */
static bool is_once(const graph *g, node_id n)
{
	return n != NONE && g->turns->sections[n] != SECTION_BODY;
}

/* The first dimension that divides into k equal parts; otherwise the longest.
 * CUT_NONE if none has k elements. */
static int dim_of_parts(const tensor_type *t, int k)
{
	int best = CUT_NONE;
	for (int d = 0; d < t->ndim; d++) {
		if (t->dims[d] < k)
			continue;
		if (t->dims[d] % k == 0)
			return d;
		if (best == CUT_NONE || t->dims[d] > t->dims[best])
			best = d;
	}
	return best;
}

static void divide(batch *b, const graph *g, tensor_id t, int d)
{
	b->dim[t] = d;
	b->n[t] = g->tensors[t].type.dims[d];
}

/* By tensor: whether it has to be whole because the turns read it or it is an
 * output.  A state's next value is treated like the state.  Allocated in a. */
static bool *find_whole(arena *a, const graph *g)
{
	bool *whole = ARENA_ARRAY(a, bool, g->ntensors);
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
			if (!is_once(g, n))
				whole[g->nodes[n].inputs[i]] = true;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		whole[t] |= x->output ||
			    (x->kind == TENSOR_RESULT &&
			     !is_once(g, x->producer)) ||
			    (x->kind == TENSOR_STATE && x->next == NONE);
	}
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (g->tensors[t].kind == TENSOR_STATE &&
		    g->tensors[t].next != NONE) {
			whole[t] |= g->tensors[g->tensors[t].next].output;
			whole[g->tensors[t].next] = whole[t];
		}
	return whole;
}

static void divide_states(batch *b, const graph *g, const bool *whole)
{
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		int d = x->kind == TENSOR_STATE && !whole[t]
				? dim_of_parts(&x->type, b->k) : CUT_NONE;
		if (d == CUT_NONE)
			continue;
		divide(b, g, t, d);
		divide(b, g, x->next, d);
	}
}

/* Propagates cuts forwards, from the inputs of nodes to their results. */
static void follow_parts(batch *b, const graph *g, const bool *whole)
{
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *n = &g->nodes[id];
		if (!is_once(g, id) || b->var[id] != CUT_NONE)
			continue;
		int64_t nelem = 0;
		int v = find_var(b, n, &nelem);
		if (v == CUT_NONE)
			continue;
		b->var[id] = v;
		if (b->dim[n->output] == CUT_NONE) {
			b->n[n->output] = nelem;
			if (v < n->kernel->nout && !whole[n->output])
				b->dim[n->output] = v;
		}
	}
}

/* Propagates cuts backwards, from nodes to inputs that other nodes compute. */
static void follow_back(batch *b, const graph *g, const bool *whole)
{
	for (node_id id = g->nnodes; id-- > 0;) {
		const node *n = &g->nodes[id];
		int v = b->var[id];
		for (int i = 0; i < n->kernel->ninputs; i++) {
			tensor_id t = n->inputs[i];
			node_id from = g->tensors[t].producer;
			if (!is_once(g, id) || v == CUT_NONE || whole[t] ||
			    !is_once(g, from) || b->dim[t] != CUT_NONE)
				continue;
			int d = aligned_dim(n->kernel, v, i,
					    n->kernel->vars[v].extent);
			if (d == CUT_NONE)
				continue;
			divide(b, g, t, d);
			if (b->var[from] == CUT_NONE &&
			    strategy_offered(g->nodes[from].kernel, d, NULL))
				b->var[from] = d;
		}
	}
}

/* Divides the work done once per step.  The gradients are reached from the
 * states, and operators on all gradients together, such as norms, are reached
 * from these. */
static void divide_once(batch *b, const graph *g)
{
	arena *tmp = arena_new();
	const bool *whole = find_whole(tmp, g);
	divide_states(b, g, whole);
	follow_parts(b, g, whole);
	follow_back(b, g, whole);
	follow_parts(b, g, whole);
	arena_free(tmp);
}

/* ---- rules ------------------------------------------------------------- */

/* The single choice `wanted', if it is among all and gives each group at least
 * one of the n elements of the batch.  Otherwise the choice none. */
static choices one_of(const step *s, choices all, const cuts *before,
		      int wanted, int64_t n)
{
	const mesh *m = &s->as->mesh;
	int axis = step_axis(s);
	bool enough = choices_have(&all, wanted) &&
		      cuts_smallest(n, m, before, axis, wanted) >=
			      m->size[axis];
	return choices_one(enough ? wanted : CUT_NONE);
}

static choices dims(const void *state, const step *s, tensor_id t)
{
	const batch *b = state;
	return one_of(s, step_dims(s, t), &s->as->tensor_cuts[t], b->dim[t],
		      b->n[t]);
}

static choices vars(const void *state, const step *s, node_id id)
{
	const batch *b = state;
	return one_of(s, step_vars(s, id), &s->as->node_cuts[id], b->var[id],
		      b->n[s->g->nodes[id].output]);
}

/* The size of the smallest batch among tensors that are not cut along all axes;
 * -1 if there is no such tensor. */
static int64_t short_batch(const batch *b, const graph *g,
			   const search_result *r, int *ninputs)
{
	int64_t least = -1;
	*ninputs = 0;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		if (b->dim[t] == CUT_NONE)
			continue;
		*ninputs += x->kind == TENSOR_INPUT;
		if (assignment_skips_axis(&r->assignment.tensor_cuts[t],
					  &r->assignment.mesh) &&
		    (least < 0 || b->n[t] < least))
			least = b->n[t];
	}
	return least;
}

static const char *note(arena *a, const batch *b, const graph *g,
			const search_result *r)
{
	int ninputs;
	int64_t n = short_batch(b, g, r, &ninputs);
	if (b->k == 1)
		return NULL;
	if (!ninputs)
		return "no input has a batch, a first dimension of at least 2, "
		       "to divide: every device computes everything";
	const char *tail = "", *head = "";
	if (n >= 0)
		head = arena_printf(a, "a batch of %lld cannot be cut over all "
				    "%d devices", (long long)n, b->k);
	if (b->nstranded)
		tail = arena_printf(a, "%soperators that cannot be cut along "
				    "the batch and run whole on every device: "
				    "%d, the first is '%s'",
				    n >= 0 ? "; " : "", b->nstranded,
				    g->nodes[b->stranded].name);
	return *head || *tail ? arena_printf(a, "%s%s", head, tail) : NULL;
}

static void plan(search *s)
{
	batch *b = find_batch(s->arena, s->graph, s->k);
	arena *tmp = arena_new();
	if (s->variant.sharded && s->graph->training && s->graph->turns)
		divide_once(b, s->graph);
	const rules along = {
		.dims = dims, .vars = vars, .state = b,
		.partial = partial_values_of(tmp, s->graph, PARTIAL_CHEAP),
	};
	search_by_step(s, &along);
	int64_t samples = said_samples(s->graph);
	s->result->few_samples = samples < s->k ? samples : 0;
	s->result->note = note(s->arena, b, s->graph, s->result);
	arena_free(tmp);
}

const planner planner_data_parallel = {
	.name = "data-parallel",
	.about = "the batch over all devices, parameters replicated",
	.plan = plan,
	.shards = true,
};
