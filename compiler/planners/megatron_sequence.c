/* Sequence parallelism.  The sum at the end of a chain is scattered along a
 * dimension of its result that does not belong to a weight and, if there is
 * another one, is not the batch.  Operators that read a scattered tensor are
 * divided with it as long as each part reads only its own part: norms, dropout,
 * residual sums.  If a reader needs all of a tensor, such as the next
 * contraction by columns, the tensor is gathered where it is computed, once for
 * all readers. */
#include "config.h"

#include "compiler/planners/megatron_sequence.h"

#include "compiler/analysis/strategy.h"
#include "compiler/cost/aligned_dims.h"
#include "compiler/planners/planner.h"
#include "kernel/region.h"

static bool divides(const megatron *m, const node *n, int v)
{
	return n->kernel->vars[v].extent >= m->k &&
	       strategy_offered(n->kernel, v, NULL);
}

/* The dimension along which to scatter the result of a node that is divided
 * along a sum.  batch: result of planner_batch(). */
static int scattered_dim(const megatron *m, node_id id, const int *batch)
{
	const node *n = &m->g->nodes[id];
	int best = CUT_NONE;
	for (int v = 0; v < n->kernel->nout; v++)
		if (divides(m, n, v) && !megatron_is_along_weight(m, n, v) &&
		    (best == CUT_NONE || v != batch[id]))
			best = v;
	return best;
}

/* Whether a chain reads a tensor. */
static bool is_read_by_chain(const megatron *m, const bool *chain, tensor_id t)
{
	for (int i = 0; i < m->readers[t].n; i++)
		if (chain[m->readers[t].at[i]])
			return true;
	return false;
}

/* Whether v follows the sequence in all inputs that have it, and at least one
 * has. */
static bool follows(const megatron *m, const node *n, int v)
{
	bool has = false;
	for (int i = 0; i < n->kernel->ninputs; i++) {
		int d = m->sequence[n->inputs[i]];
		if (d == CUT_NONE)
			continue;
		has = true;
		if (!var_follows_dim(n->kernel, v, i, d, m->k))
			return false;
	}
	return has && divides(m, n, v);
}

/* The variable that follows the sequence in a node between the chains.  If the
 * activation of a contraction with a weight is gathered for a chain, the
 * contraction need not be computed by every device.  This concerns keys and
 * values that several devices share. */
static int along_sequence(const megatron *m, const bool *chain, const node *n)
{
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (megatron_reads_weight(m, n) &&
		    m->sequence[n->inputs[i]] != CUT_NONE &&
		    is_read_by_chain(m, chain, n->inputs[i]))
			return CUT_NONE;
	for (int v = 0; v < n->kernel->nout; v++)
		if (follows(m, n, v))
			return v;
	return CUT_NONE;
}

/* Whether a node reads a tensor over the whole length of the sequence. */
static bool reads_sequence(const megatron *m, const node *n, tensor_id t)
{
	int d = m->sequence[t];
	box space = kernel_space(n->kernel);
	for (int i = 0; i < n->kernel->ninputs; i++) {
		if (n->inputs[i] != t)
			continue;
		box need = kernel_need(n->kernel, &space, i);
		if (need.hi[d] - need.lo[d] == n->kernel->inputs[i].dims[d])
			return true;
	}
	return false;
}

/* Whether no device needs the whole of a tensor that has the sequence. */
static bool stays_cut(const megatron *m, const bool *chain, tensor_id t)
{
	for (int i = 0; i < m->readers[t].n; i++) {
		node_id by = m->readers[t].at[i];
		bool follows = !chain[by] && m->var[by] != CUT_NONE;
		if (!follows && reads_sequence(m, &m->g->nodes[by], t))
			return false;
	}
	return true;
}

int megatron_divide_sequence(megatron *m)
{
	const graph *g = m->g;
	const int *batch = planner_batch(m->arena, g, m->k);
	bool *chain = ARENA_ARRAY(m->arena, bool, g->nnodes);
	int n = 0;
	for (node_id id = 0; id < g->nnodes; id++)
		chain[id] = m->var[id] != CUT_NONE;
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *at = &g->nodes[id];
		int v = CUT_NONE;
		if (!m->forward[id] || m->weight[at->output])
			continue;
		if (!chain[id]) {
			v = along_sequence(m, chain, at);
			if (v != CUT_NONE)
				megatron_divide(m, id, v);
			n += v != CUT_NONE;
		} else if (m->var[id] >= at->kernel->nout) {
			v = scattered_dim(m, id, batch);
		}
		m->sequence[at->output] = (signed char)v;
	}
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (m->sequence[t] != CUT_NONE)
			m->dim[t] = stays_cut(m, chain, t) ? m->sequence[t]
							    : CUT_NONE;
	return n;
}
