/* The Megatron-LM planner for transformers (Shoeybi et al., arXiv 1909.08053,
 * section 3).  Chains of contractions are divided by columns, then by rows.
 * Embeddings and the loss are divided by vocabulary.  Every device computes all
 * other operators; with sequence parallelism each device computes its part of
 * the sequence. */
#include "config.h"

#include "compiler/planners/megatron_sequence.h"
#include "compiler/planners/partial_assignment.h"

static void decide(cuts *c, int naxes, int choice)
{
	for (int a = 0; a < naxes; a++)
		c->dim[a] = (signed char)choice;
}

/* Cuts the gradient of a tensor that has the sequence, or replicates it,
 * whichever moves less.  Where the forward pass scatters, the backward pass
 * gathers, and the reverse. */
static void decide_gradients(const megatron *m, int naxes,
			     partial_assignment *o)
{
	for (tensor_id t = 0; t < m->g->ntensors; t++) {
		tensor_id of = m->g->tensors[t].gradient_of;
		if (of == NONE || m->sequence[of] == CUT_NONE ||
		    o->tensor_set[t])
			continue;
		o->tensor_set[t] = o->or_replicated[t] = true;
		decide(&o->tensors[t], naxes, m->sequence[of]);
	}
}

/* Stores states that a run leaves for the next, such as the caches of a
 * decoder, as they are computed. */
static void decide_kept(const megatron *m, partial_assignment *o)
{
	const graph *g = m->g;
	for (tensor_id t = 0; t < g->ntensors && !g->training; t++) {
		const tensor *x = &g->tensors[t];
		if (x->kind != TENSOR_STATE || x->next == NONE || x->parameter)
			continue;
		node_id by = g->tensors[x->next].producer;
		int v = m->var[by] < g->nodes[by].kernel->nout ? m->var[by]
							     : CUT_NONE;
		decide(&o->tensors[t], m->var_axes[by], v);
		decide(&o->tensors[x->next], m->var_axes[by], v);
		o->tensor_set[t] = o->tensor_set[x->next] = true;
	}
}

/* The cuts of the forward pass.  A tensor or node has the same choice on all
 * axes that divide it. */
static partial_assignment hinted_assignment(const megatron *m)
{
	const graph *g = m->g;
	partial_assignment o = partial_assignment_new(m->arena, g);
	o.as_one = true;
	for (node_id n = 0; n < g->nnodes; n++) {
		o.node_set[n] = m->forward[n];
		decide(&o.nodes[n], m->var_axes[n], m->var[n]);
	}
	for (tensor_id t = 0; t < g->ntensors; t++) {
		node_id by = g->tensors[t].producer;
		o.tensor_set[t] = by != NONE ? m->forward[by]
				: m->dim[t] != CUT_NONE ||
				  m->readers[t].n > 0;
		decide(&o.tensors[t], m->dim_axes[t], m->dim[t]);
	}
	decide_gradients(m, m->naxes, &o);
	decide_kept(m, &o);
	return o;
}

static const char *note(arena *a, const megatron *m, int nsequence,
			bool at_once)
{
	const char *rest = "all else is computed by every device";
	if (nsequence > 0)
		rest = arena_printf(a, "%d operators between them along the "
				    "sequence", nsequence);
	return arena_printf(a, "%d contractions by columns, %d by rows, %d "
			    "embedding%s; %s%s", m->ncolumns, m->nrows,
			    m->nembeddings, m->nembeddings == 1 ? "" : "s",
			    rest, at_once ? "; terms of gradients are "
					    "combined one by one" : "");
}

static void plan(search *s)
{
	arena *tmp = arena_new();
	megatron *m = megatron_chains(tmp, s->graph, &s->mesh);
	if (s->k > 1 && m->nrows == 0) {
		s->result->error = "no chain of two contractions with weights "
				   "can be divided by columns, then rows";
	} else {
		int n = s->variant.sequence_parallel
				? megatron_divide_sequence(m) : 0;
		partial_assignment o = hinted_assignment(m);
		partial_assignment_complete(s, &o);
		if (s->k > 1)
			s->result->note = note(s->arena, m, n,
						s->variant.at_once);
	}
	arena_free(tmp);
}

static const search_variant variants[] = {
	{ .at_once = true },
	{ .sequence_parallel = true },
	{ .sequence_parallel = true, .at_once = true },
};

const planner planner_megatron = {
	.name = "megatron",
	.about = "Megatron-LM's scheme: pairs of contractions by columns, then "
		 "rows",
	.plan = plan,
	.variants = variants,
	.nvariants = sizeof(variants) / sizeof(*variants),
};
