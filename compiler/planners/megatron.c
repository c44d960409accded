/* The plan of Megatron-LM for transformers (Shoeybi et al., arXiv 1909.08053,
 * section 3), found by structure, never by name.
 *
 * A contraction of an activation and a weight is divided along the weight's
 * columns, an output variable; its result is then cut, and the operators that
 * read the result are divided with it as long as each part reads nothing but
 * its own part, up to a contraction with a weight that sums over the cut
 * dimension: that one is divided along the sum, the weight's rows.  A chain
 * from columns to rows thus moves only the sum at its end.  An embedding's
 * table is cut along the vocabulary; all other operators are computed by every
 * device. */
#include "config.h"

#include "compiler/analysis/strategy.h"
#include "compiler/cost/aligned_dims.h"
#include "compiler/planners/partial_assignment.h"

typedef VEC(int) ids;

typedef struct expert {
	arena *arena;
	const graph *g;
	int k;		 /* devices */
	const bool *forward;
	ids *readers;	 /* of each tensor: nodes of the forward pass */
	signed char *dim; /* of each tensor; CUT_NONE: replicated */
	signed char *var; /* of each node; CUT_NONE: every device computes it */
	ids tensors, nodes; /* set by the current chain, in order */
	int ncolumns, nrows, nembeddings; /* divided, in all */
	/* The numbers of ends of the current chain: at rows, at other sums of
	 * parts, at nodes of earlier chains or outputs. */
	int rows, sums, joined;
} expert;

static void set_dim(expert *e, tensor_id t, int d)
{
	e->dim[t] = (signed char)d;
	vec_push(e->arena, &e->tensors, t);
}

static void set_var(expert *e, node_id n, int v)
{
	e->var[n] = (signed char)v;
	vec_push(e->arena, &e->nodes, n);
}

/* ---- kinds of nodes ---------------------------------------------------- */

/* Whether variable v of a node can be divided in k equal parts. */
static bool divides(const expert *e, const node *n, int v)
{
	return n->kernel->vars[v].extent % e->k == 0 &&
	       n->kernel->vars[v].extent > 0 &&
	       strategy_offered(n->kernel, v, NULL);
}

/* The dimension of input i that is aligned with v, if it has k equal parts. */
static int dim_along(const expert *e, const node *n, int v, int i)
{
	int d = aligned_dim(n->kernel, v, i, e->k);
	return d != CUT_NONE && n->kernel->inputs[i].dims[d] % e->k == 0
		       ? d : CUT_NONE;
}

static bool is_weight(const expert *e, const node *n, int i)
{
	return e->g->tensors[n->inputs[i]].parameter;
}

/* The input that is a weight of two dimensions or more, one of them aligned
 * with v; or -1. */
static int weight_along(const expert *e, const node *n, int v)
{
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (is_weight(e, n, i) && n->kernel->inputs[i].ndim >= 2 &&
		    dim_along(e, n, v, i) != CUT_NONE)
			return i;
	return -1;
}

static bool is_contraction(const node *n)
{
	return n->kernel->reducer == RED_SUM && n->kernel->ninputs >= 2;
}

/* Whether v, an output variable, runs over columns: it cuts a weight, and each
 * part reads all of the other inputs. */
static bool is_columns(const expert *e, const node *n, int v)
{
	if (!divides(e, n, v) || weight_along(e, n, v) < 0)
		return false;
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (!is_weight(e, n, i) &&
		    !var_reads_all(n->kernel, v, i, e->k))
			return false;
	return true;
}

/* ---- a chain ----------------------------------------------------------- */

/* Divides a node along v; the weights that are aligned with v are cut with it,
 * unless they are cut already. */
static void divide(expert *e, node_id id, int v)
{
	const node *n = &e->g->nodes[id];
	set_var(e, id, v);
	for (int i = 0; i < n->kernel->ninputs; i++) {
		int d = is_weight(e, n, i) ? dim_along(e, n, v, i) : CUT_NONE;
		if (d != CUT_NONE && e->dim[n->inputs[i]] == CUT_NONE)
			set_dim(e, n->inputs[i], d);
	}
	if (v < n->kernel->nout)
		set_dim(e, n->output, v);
}

/* Whether v follows the cut of tensor t in all inputs that read it. */
static bool follows_cut(const expert *e, const node *n, int v, tensor_id t)
{
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (n->inputs[i] == t &&
		    !var_follows_dim(n->kernel, v, i, e->dim[t], e->k))
			return false;
	return divides(e, n, v);
}

static bool is_rows(const expert *e, const node *n, int v)
{
	return v >= n->kernel->nout && is_contraction(n) &&
	       weight_along(e, n, v) >= 0;
}

static double nelem(const tensor_type *t)
{
	double n = 1;
	for (int d = 0; d < t->ndim; d++)
		n *= (double)t->dims[d];
	return n;
}

/* Whether the result of a node is no larger than a device's part of tensor t,
 * so that it is cheap to sum up. */
static bool is_small(const expert *e, const node *n, tensor_id t)
{
	return nelem(&e->g->tensors[n->output].type) * e->k <=
	       nelem(&e->g->tensors[t].type);
}

/* The variable along which a node that reads a cut tensor is divided:
 * preferably the rows of a weight, else a variable of its result, else a small
 * sum of parts.  CUT_NONE: none. */
static int successor(const expert *e, const node *n, tensor_id t)
{
	int own = CUT_NONE, part = CUT_NONE;
	for (int v = 0; v < n->kernel->nvars; v++) {
		if (!follows_cut(e, n, v, t))
			continue;
		bool sums = v >= n->kernel->nout;
		if (is_rows(e, n, v))
			return v;
		if (!sums && own == CUT_NONE)
			own = v;
		if (sums && part == CUT_NONE && is_small(e, n, t))
			part = v;
	}
	return own != CUT_NONE ? own : part;
}

/* Divides a node that reads the cut tensor t.  False if that is impossible. */
static bool follow_to(expert *e, node_id id, tensor_id t)
{
	const node *n = &e->g->nodes[id];
	int v = e->var[id];
	if (v != CUT_NONE) {
		e->joined++;
		return follows_cut(e, n, v, t);
	}
	v = successor(e, n, t);
	if (v == CUT_NONE)
		return false;
	e->rows += is_rows(e, n, v);
	e->sums += v >= n->kernel->nout && !is_rows(e, n, v);
	divide(e, id, v);
	return true;
}

/* Divides the readers of the tensors which the chain cuts, and so on.  False if
 * one cannot be divided, or if the chain ends both at rows and at other sums.
 * A chain from the network's last weight ends at sums alone, those of a norm or
 * of the loss. */
static bool follow(expert *e)
{
	for (int i = 0; i < e->tensors.n; i++) {
		tensor_id t = e->tensors.at[i];
		if (e->g->tensors[t].producer == NONE)
			continue;
		e->joined += e->g->tensors[t].output;
		for (int j = 0; j < e->readers[t].n; j++)
			if (!follow_to(e, e->readers[t].at[j], t))
				return false;
	}
	return e->rows + e->joined + e->sums > 0 && !(e->rows && e->sums);
}

static void begin(expert *e)
{
	e->tensors.n = e->nodes.n = 0;
	e->rows = e->sums = e->joined = 0;
}

static void undo(expert *e)
{
	for (int i = 0; i < e->tensors.n; i++)
		e->dim[e->tensors.at[i]] = CUT_NONE;
	for (int i = 0; i < e->nodes.n; i++)
		e->var[e->nodes.at[i]] = CUT_NONE;
}

/* Tries to begin a chain at a node, with each variable that runs over columns
 * of weights which are not cut yet, or are cut in the same way. */
static void try_columns(expert *e, node_id id)
{
	const node *n = &e->g->nodes[id];
	for (int v = 0; v < n->kernel->nout; v++) {
		if (!is_columns(e, n, v))
			continue;
		int i = weight_along(e, n, v);
		int was = e->dim[n->inputs[i]];
		if (was != CUT_NONE && was != dim_along(e, n, v, i))
			continue;
		begin(e);
		divide(e, id, v);
		if (follow(e)) {
			e->ncolumns++;
			e->nrows += e->rows;
			return;
		}
		undo(e);
	}
}

/* An embedding: a weight whose rows are looked up by data-dependent indices. */
static void try_embedding(expert *e, node_id id)
{
	const node *n = &e->g->nodes[id];
	for (int v = n->kernel->nout; v < n->kernel->nvars; v++) {
		if (n->kernel->vars[v].kind != KVAR_DERIVED ||
		    !divides(e, n, v) || weight_along(e, n, v) < 0)
			continue;
		begin(e);
		divide(e, id, v);
		e->nembeddings++;
		return;
	}
}

/* ---- the plan ---------------------------------------------------------- */

static expert *find_chains(arena *a, const graph *g, int k)
{
	expert *e = ARENA_NEW(a, expert);
	*e = (expert){ .arena = a, .g = g, .k = k,
		       .forward = partial_assignment_forward(a, g),
		       .dim = ARENA_ARRAY(a, signed char, g->ntensors),
		       .var = ARENA_ARRAY(a, signed char, g->nnodes) };
	e->readers = arena_calloc(a, (size_t)g->ntensors,
				  sizeof(*e->readers));
	for (tensor_id t = 0; t < g->ntensors; t++)
		e->dim[t] = CUT_NONE;
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *n = &g->nodes[id];
		e->var[id] = CUT_NONE;
		for (int i = 0; e->forward[id] && i < n->kernel->ninputs; i++)
			vec_push(a, &e->readers[n->inputs[i]], id);
	}
	for (node_id id = 0; id < g->nnodes; id++)
		if (e->forward[id])
			try_embedding(e, id);
	for (node_id id = 0; id < g->nnodes; id++)
		if (e->forward[id] && e->var[id] == CUT_NONE &&
		    is_contraction(&g->nodes[id]))
			try_columns(e, id);
	return e;
}

/* The tensors and nodes of the forward pass, with the same choice for all
 * axes. */
static partial_assignment hinted_assignment(const expert *e, int naxes)
{
	const graph *g = e->g;
	partial_assignment o = partial_assignment_new(e->arena, g);
	for (node_id n = 0; n < g->nnodes; n++) {
		o.node_set[n] = e->forward[n];
		for (int a = 0; a < naxes; a++)
			o.nodes[n].dim[a] = e->var[n];
	}
	for (tensor_id t = 0; t < g->ntensors; t++) {
		node_id by = g->tensors[t].producer;
		o.tensor_set[t] = by != NONE ? e->forward[by]
				: e->dim[t] != CUT_NONE ||
				  e->readers[t].n > 0;
		for (int a = 0; a < naxes; a++)
			o.tensors[t].dim[a] = e->dim[t];
	}
	return o;
}

static const char *note(arena *a, const expert *e)
{
	return arena_printf(a, "%d contractions by columns, %d by rows, %d "
			    "embeddings; all else is computed by every device",
			    e->ncolumns, e->nrows, e->nembeddings);
}

static void plan(search *s)
{
	arena *tmp = arena_new();
	expert *e = find_chains(tmp, s->graph, s->k);
	if (s->k > 1 && e->nrows == 0) {
		s->result->error = "no chain of two contractions with weights "
				   "can be divided by columns, then rows";
	} else {
		partial_assignment o = hinted_assignment(e, s->mesh.naxes);
		partial_assignment_complete(s, &o);
		if (s->k > 1)
			s->result->note = note(s->arena, e);
	}
	arena_free(tmp);
}

const planner planner_megatron = {
	.name = "megatron",
	.about = "Megatron-LM's scheme: pairs of contractions by columns, then "
		 "rows",
	.plan = plan,
};
