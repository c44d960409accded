/* Chains of contractions, found by structure, never by name.
 *
 * A chain begins at a contraction of an activation and a weight, which is
 * divided along the weight's columns, an output variable.  Its result is then
 * cut.  Operators that read the result are divided with it as long as each part
 * reads only its own part.  The chain ends at a contraction with a weight that
 * sums over the cut dimension: it is divided along the sum, the weight's rows.
 * So a chain only moves the sum at its end.  A weight may be computed from
 * another one, such as a copy of less precision; the cut is followed back to
 * the stored weight. */
#include "config.h"

#include "compiler/planners/megatron_chains.h"

#include <string.h>

#include "compiler/analysis/strategy.h"
#include "compiler/cost/aligned_dims.h"
#include "compiler/planners/partial_assignment.h"
#include "kernel/contraction.h"

static void set_dim(megatron *m, tensor_id t, int d)
{
	m->dim[t] = (signed char)d;
	m->dim_axes[t] = (signed char)m->naxes;
	vec_push(m->arena, &m->tensors, t);
}

static void set_var(megatron *m, node_id n, int v)
{
	m->var[n] = (signed char)v;
	m->var_axes[n] = (signed char)m->naxes;
	vec_push(m->arena, &m->nodes, n);
}

/* ---- kinds of nodes ---------------------------------------------------- */

/* Whether an extent has a part for each device.  The parts have to be equal if
 * the planner requires equal parts. */
static bool has_parts(const megatron *m, int64_t extent)
{
	return extent >= m->k && (m->uneven || extent % m->k == 0);
}

static bool divides(const megatron *m, const node *n, int v)
{
	return has_parts(m, n->kernel->vars[v].extent) &&
	       strategy_offered(n->kernel, v, NULL);
}

/* The dimension of input i that is aligned with v and has a part for each
 * device, or none. */
static int dim_along(const megatron *m, const node *n, int v, int i)
{
	int d = aligned_dim(n->kernel, v, i, m->k);
	return d != CUT_NONE && has_parts(m, n->kernel->inputs[i].dims[d])
		       ? d : CUT_NONE;
}

static bool is_weight(const megatron *m, const node *n, int i)
{
	return m->weight[n->inputs[i]];
}

/* The input that is a weight of at least two dimensions, one of them aligned
 * with v; -1 if there is none. */
static int weight_along(const megatron *m, const node *n, int v)
{
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (is_weight(m, n, i) && n->kernel->inputs[i].ndim >= 2 &&
		    dim_along(m, n, v, i) != CUT_NONE)
			return i;
	return -1;
}

bool megatron_is_along_weight(const megatron *m, const node *n, int v)
{
	return weight_along(m, n, v) >= 0;
}

bool megatron_reads_weight(const megatron *m, const node *n)
{
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (is_weight(m, n, i) && n->kernel->inputs[i].ndim >= 2)
			return kernel_sums_products(n->kernel);
	return false;
}

/* Whether output variable v runs over the columns of a weight: it cuts the
 * weight, and each part reads all of the other inputs. */
static bool is_columns(const megatron *m, const node *n, int v)
{
	if (!divides(m, n, v) || weight_along(m, n, v) < 0)
		return false;
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (!is_weight(m, n, i) &&
		    !var_reads_all(n->kernel, v, i, m->k))
			return false;
	return true;
}

/* ---- a chain ----------------------------------------------------------- */

/* Whether every weight aligned with v is uncut or cut the same way. */
static bool agrees(const megatron *m, const node *n, int v)
{
	for (int i = 0; i < n->kernel->ninputs; i++) {
		int has = m->dim[n->inputs[i]];
		if (is_weight(m, n, i) && has != CUT_NONE &&
		    n->kernel->inputs[i].ndim >= 2 &&
		    has != dim_along(m, n, v, i))
			return false;
	}
	return true;
}

void megatron_divide(megatron *m, node_id id, int v)
{
	const node *n = &m->g->nodes[id];
	set_var(m, id, v);
	for (int i = 0; i < n->kernel->ninputs; i++) {
		tensor_id t = n->inputs[i];
		int d = m->weight[t] ? dim_along(m, n, v, i) : CUT_NONE;
		if (d != CUT_NONE && m->dim[t] == CUT_NONE)
			set_dim(m, t, d);
	}
	if (v < n->kernel->nout && m->dim[n->output] == CUT_NONE)
		set_dim(m, n->output, v);
}

/* The number of elements of input i along dimension d that are read for `part'
 * values of v, beginning at `from'. */
static int64_t read_by(const kernel *k, int v, int64_t from, int64_t part,
		       int i, int d)
{
	box space = kernel_space(k);
	space.lo[v] = from;
	space.hi[v] = from + part;
	box need = kernel_need(k, &space, i);
	return need.hi[d] - need.lo[d];
}

/* Whether v runs over a slice of dimension d of input i: the first and the last
 * part read no more elements than a device has, but read those of another
 * device. */
static bool reads_slice(const megatron *m, const node *n, int v, int i, int d)
{
	const kernel *k = n->kernel;
	int64_t extent = k->vars[v].extent, part = extent / m->k;
	return part > 0 && k->inputs[i].dims[d] > extent &&
	       read_by(k, v, 0, part, i, d) <= part &&
	       read_by(k, v, extent - part, part, i, d) <= part;
}

/* Whether v follows the cut of tensor t in every input that reads t. */
static bool follows_cut(const megatron *m, const node *n, int v, tensor_id t)
{
	int d = m->dim[t];
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (n->inputs[i] == t &&
		    !var_follows_dim(n->kernel, v, i, d, m->k) &&
		    !(m->sliced && reads_slice(m, n, v, i, d)))
			return false;
	return divides(m, n, v);
}

static bool is_rows(const megatron *m, const node *n, int v)
{
	return v >= n->kernel->nout && kernel_sums_products(n->kernel) &&
	       weight_along(m, n, v) >= 0;
}

static double nelem(const tensor_type *t)
{
	double n = 1;
	for (int d = 0; d < t->ndim; d++)
		n *= (double)t->dims[d];
	return n;
}

/* Whether the result of a node is no larger than a device's part of tensor t,
 * so that summing it over devices is cheap. */
static bool is_small(const megatron *m, const node *n, tensor_id t)
{
	return nelem(&m->g->tensors[n->output].type) * m->k <=
	       nelem(&m->g->tensors[t].type);
}

/* The variable along which to divide a node that reads a cut tensor.  The rows
 * of a weight are preferred, then a variable of the result, then a sum with a
 * small result.  CUT_NONE if there is none. */
static int successor(const megatron *m, const node *n, tensor_id t)
{
	int own = CUT_NONE, part = CUT_NONE;
	for (int v = 0; v < n->kernel->nvars; v++) {
		if (!follows_cut(m, n, v, t))
			continue;
		bool sums = v >= n->kernel->nout;
		if (is_rows(m, n, v))
			return v;
		if (!sums && own == CUT_NONE)
			own = v;
		if (sums && part == CUT_NONE && is_small(m, n, t))
			part = v;
	}
	return own != CUT_NONE ? own : part;
}

/* Divides a node that reads the cut tensor t.  Returns false if that is
 * impossible. */
static bool follow_to(megatron *m, node_id id, tensor_id t)
{
	const node *n = &m->g->nodes[id];
	int v = m->var[id];
	if (v != CUT_NONE) {
		m->joined++;
		return follows_cut(m, n, v, t);
	}
	v = successor(m, n, t);
	if (v == CUT_NONE)
		return false;
	m->rows += is_rows(m, n, v);
	m->sums += v >= n->kernel->nout && !is_rows(m, n, v);
	megatron_divide(m, id, v);
	return true;
}

/* Divides the node that computes a cut weight, and so cuts the weights that it
 * reads.  If the node cannot be divided, every device computes the whole
 * weight.  Returns false if the weights read are already cut in another way. */
static bool follow_back(megatron *m, tensor_id t)
{
	node_id by = m->g->tensors[t].producer;
	if (by == NONE || m->var[by] != CUT_NONE ||
	    !divides(m, &m->g->nodes[by], m->dim[t]))
		return true;
	if (!agrees(m, &m->g->nodes[by], m->dim[t]))
		return false;
	megatron_divide(m, by, m->dim[t]);
	return true;
}

static bool follow_from(megatron *m, tensor_id t)
{
	if (m->weight[t])
		return follow_back(m, t);
	m->joined += m->g->tensors[t].output;
	for (int j = 0; j < m->readers[t].n; j++)
		if (!follow_to(m, m->readers[t].at[j], t))
			return false;
	return true;
}

/* Divides the readers of the tensors that the chain cuts, then the readers of
 * their results, and so on.  Returns false if a reader cannot be divided. */
static bool follow(megatron *m)
{
	for (int i = 0; i < m->tensors.n; i++)
		if (!follow_from(m, m->tensors.at[i]))
			return false;
	return true;
}

/* Whether the chain has an end, and not both at rows and at other sums.  A
 * chain from the network's last weight may only end at sums, such as those of a
 * norm or the loss.  A chain with fewer parts than devices may only end in
 * other chains. */
static bool ends_well(const megatron *m)
{
	if (m->naxes < m->mesh->naxes)
		return m->joined && !m->rows && !m->sums;
	return m->rows + m->joined + m->sums > 0 && !(m->rows && m->sums);
}

static void begin(megatron *m)
{
	m->tensors.n = m->nodes.n = 0;
	m->rows = m->sums = m->joined = 0;
}

static void undo(megatron *m)
{
	for (int i = 0; i < m->tensors.n; i++)
		m->dim[m->tensors.at[i]] = CUT_NONE;
	for (int i = 0; i < m->nodes.n; i++)
		m->var[m->nodes.at[i]] = CUT_NONE;
}

/* Tries to begin a chain at a node.  Each variable that runs over columns is
 * tried whose weights are uncut or cut in the same way. */
static void try_columns(megatron *m, node_id id)
{
	const node *n = &m->g->nodes[id];
	for (int v = 0; v < n->kernel->nout; v++) {
		if (!is_columns(m, n, v) || !agrees(m, n, v))
			continue;
		begin(m);
		megatron_divide(m, id, v);
		if (follow(m) && ends_well(m)) {
			m->ncolumns++;
			m->nrows += m->rows;
			return;
		}
		undo(m);
	}
}

/* ---- embeddings -------------------------------------------------------- */

/* The variable over the vocabulary if the node is an embedding, whose weight's
 * rows are looked up by data; otherwise CUT_NONE. */
static int vocabulary(const megatron *m, node_id id)
{
	const node *n = &m->g->nodes[id];
	if (m->known[n->output])
		return CUT_NONE;
	for (int v = n->kernel->nout; v < n->kernel->nvars; v++)
		if (n->kernel->vars[v].kind == KVAR_DERIVED &&
		    divides(m, n, v) && weight_along(m, n, v) >= 0)
			return v;
	return CUT_NONE;
}

/* The representative of the set of tensors that are combined with t element by
 * element. */
static tensor_id combined(tensor_id *with, tensor_id t)
{
	while (with[t] != t)
		t = with[t] = with[with[t]];
	return t;
}

/* For each tensor a representative of the tensors combined with it element by
 * element. */
static tensor_id *combine(const megatron *m)
{
	const graph *g = m->g;
	tensor_id *with = ARENA_ARRAY(m->arena, tensor_id, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++)
		with[t] = t;
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *n = &g->nodes[id];
		bool goes_on = m->forward[id] && !m->known[n->output] &&
			       kernel_facts_of(n->kernel).elementwise;
		for (int i = 0; goes_on && i < n->kernel->ninputs; i++)
			if (!m->known[n->inputs[i]])
				with[combined(with, n->inputs[i])] =
					combined(with, n->output);
	}
	return with;
}

/* Divides embeddings.  If the results of several are added up, the one with the
 * largest vocabulary is divided, and tables of positions or segments are
 * not. */
static void divide_embeddings(megatron *m)
{
	const graph *g = m->g;
	tensor_id *with = combine(m);
	node_id *largest = ARENA_ARRAY(m->arena, node_id, g->ntensors);
	int64_t *rows = arena_calloc(m->arena, (size_t)g->ntensors,
				     sizeof(*rows));
	for (node_id id = 0; id < g->nnodes; id++) {
		int v = m->forward[id] ? vocabulary(m, id) : CUT_NONE;
		if (v == CUT_NONE)
			continue;
		tensor_id c = combined(with, g->nodes[id].output);
		int64_t has = g->nodes[id].kernel->vars[v].extent;
		if (has > rows[c]) {
			rows[c] = has;
			largest[c] = id;
		}
	}
	for (tensor_id t = 0; t < g->ntensors; t++) {
		if (!rows[t])
			continue;
		begin(m);
		megatron_divide(m, largest[t], vocabulary(m, largest[t]));
		if (follow(m))
			m->nembeddings++;
		else
			undo(m);
	}
}

/* ---- all of them ------------------------------------------------------- */

static bool has_lookup(const node *n)
{
	for (int v = n->kernel->nout; v < n->kernel->nvars; v++)
		if (n->kernel->vars[v].kind == KVAR_DERIVED)
			return true;
	return false;
}

/* Whether the result of a node counts as a weight.  Either it is computed
 * without a reduction from weights and constants alone, or it consists of
 * matrices that indices choose from a stack of weights, such as experts. */
static bool makes_weight(const megatron *m, const node *n)
{
	int nweights = 0, nstacks = 0, nothers = 0;
	for (int i = 0; i < n->kernel->ninputs; i++) {
		const tensor *x = &m->g->tensors[n->inputs[i]];
		nweights += is_weight(m, n, i);
		nstacks += is_weight(m, n, i) && x->type.ndim >= 3;
		nothers += !is_weight(m, n, i) && x->kind != TENSOR_CONSTANT;
	}
	if (nothers == 0)
		return nweights > 0 && n->kernel->reducer == RED_NONE;
	return nothers == 1 && nstacks > 0 && has_lookup(n);
}

static bool reads_known(const megatron *m, const node *n)
{
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (!m->known[n->inputs[i]])
			return false;
	return true;
}

static void find_weights(megatron *m)
{
	const graph *g = m->g;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		m->weight[t] = x->parameter;
		m->known[t] = x->parameter || x->kind == TENSOR_CONSTANT;
	}
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *n = &g->nodes[id];
		if (!m->forward[id])
			continue;
		m->weight[n->output] = makes_weight(m, n);
		m->known[n->output] = m->weight[n->output] || reads_known(m, n);
	}
}

static void find_readers(megatron *m)
{
	for (node_id id = 0; id < m->g->nnodes; id++) {
		const node *n = &m->g->nodes[id];
		for (int i = 0; m->forward[id] && i < n->kernel->ninputs; i++)
			vec_push(m->arena, &m->readers[n->inputs[i]], id);
	}
}

static signed char *none(arena *a, int n)
{
	signed char *of = ARENA_ARRAY(a, signed char, n);
	for (int i = 0; i < n; i++)
		of[i] = CUT_NONE;
	return of;
}

static void divide_contractions(megatron *m, bool uneven, bool sliced)
{
	m->uneven = uneven;
	m->sliced = sliced;
	for (node_id id = 0; id < m->g->nnodes; id++) {
		const node *n = &m->g->nodes[id];
		if (m->forward[id] && m->var[id] == CUT_NONE &&
		    !m->weight[n->output] && kernel_sums_products(n->kernel))
			try_columns(m, id);
	}
}

/* Divides the remaining chains, which have fewer parts than there are devices,
 * such as heads of keys and values.  Each group of devices along the first axes
 * gets one part, and its devices compute the same.  These chains join the
 * chains that have more parts. */
static void divide_in_groups(megatron *m)
{
	const int k = m->k, naxes = m->naxes;
	while (m->naxes > 1) {
		m->k /= m->mesh->size[--m->naxes];
		divide_contractions(m, false, false);
	}
	m->k = k;
	m->naxes = naxes;
}

megatron *megatron_chains(arena *a, const graph *g, const mesh *devices)
{
	megatron *m = ARENA_NEW(a, megatron);
	*m = (megatron){ .arena = a, .g = g, .mesh = devices,
			 .k = mesh_workers(devices), .naxes = devices->naxes,
			 .uneven = true,
			 .forward = partial_assignment_forward(a, g),
			 .weight = ARENA_ARRAY(a, bool, g->ntensors),
			 .known = ARENA_ARRAY(a, bool, g->ntensors),
			 .dim = none(a, g->ntensors),
			 .var = none(a, g->nnodes),
			 .dim_axes = ARENA_ARRAY(a, signed char, g->ntensors),
			 .var_axes = ARENA_ARRAY(a, signed char, g->nnodes),
			 .sequence = none(a, g->ntensors) };
	m->readers = arena_calloc(a, (size_t)g->ntensors, sizeof(*m->readers));
	memset(m->dim_axes, m->naxes, (size_t)g->ntensors);
	memset(m->var_axes, m->naxes, (size_t)g->nnodes);
	find_weights(m);
	find_readers(m);
	divide_embeddings(m);
	divide_contractions(m, false, false);
	divide_contractions(m, true, false);
	divide_contractions(m, true, true);
	divide_in_groups(m);
	return m;
}
