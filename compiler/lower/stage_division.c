#include "config.h"

#include "compiler/lower/stage_division.h"

#include "compiler/graph/passes.h"

typedef struct divider {
	const graph *g;
	graph_passes passes;
	int nparts;
	int *part;     /* by node; NONE: not known yet */
	bool *settled; /* by node: its part does not follow its readers */
	plan_pass *pass;
} divider;

static bool is_body(const graph *g, node_id n)
{
	return n != NONE && g->turns->sections[n] == SECTION_BODY;
}

/* ---- layers -------------------------------------------------------------- */

/* Whether a node reads a weight or a value computed with one. */
static bool is_weighted(const graph *g, const bool *is, node_id n)
{
	bool found = false;
	for (int i = 0; i < g->nodes[n].kernel->ninputs && !found; i++) {
		const tensor *t = &g->tensors[g->nodes[n].inputs[i]];
		found = graph_binds(t) || t->parameter ||
			(t->producer != NONE &&
			 (is[t->producer] || !is_body(g, t->producer)));
	}
	return found;
}

bool *stage_layers(arena *a, const graph *g)
{
	arena *tmp = arena_new();
	const graph_passes passes = graph_passes_of(tmp, g);
	bool *is = ARENA_ARRAY(a, bool, g->nnodes);
	for (node_id n = 0; n < g->nnodes; n++)
		is[n] = is_body(g, n) && !passes.backward[n] &&
			is_weighted(g, is, n);
	arena_free(tmp);
	return is;
}

/* ---- the turns ----------------------------------------------------------- */

/* The part of a backward node.  Gradients come from later parts, so it is at
 * most the least part of what the node reads. */
static int part_of_backward(const divider *x, node_id n)
{
	const graph *g = x->g;
	const node *of = &g->nodes[n];
	node_id partner = x->passes.partner[n];
	int part = is_body(g, partner) && x->part[partner] != NONE
			   ? x->part[partner]
			   : x->nparts - 1;
	for (int i = 0; i < of->kernel->ninputs; i++) {
		node_id from = g->tensors[of->inputs[i]].producer;
		if (is_body(g, from) && x->passes.backward[from] &&
		    x->part[from] < part)
			part = x->part[from];
	}
	return part;
}

static void divide_backward(divider *x)
{
	for (node_id n = 0; n < x->g->nnodes; n++)
		if (is_body(x->g, n) && x->passes.backward[n])
			x->part[n] = part_of_backward(x, n);
}

/* Whether a tensor is a turn's own value through which gradients flow. */
static bool is_gradient_of_turn(const graph *g, const tensor *t)
{
	return t->gradient_of != NONE &&
	       is_body(g, g->tensors[t->gradient_of].producer);
}

/* Finds the pass of each node.  A backward node counts as PASS_WEIGHT at
 * first. */
static void find_passes(divider *x)
{
	const graph *g = x->g;
	for (node_id n = 0; n < g->nnodes; n++)
		x->pass[n] = is_body(g, n) && x->passes.backward[n]
				     ? PASS_WEIGHT
				     : PASS_FORWARD;
	for (node_id n = g->nnodes; n-- > 0;) {
		const node *of = &g->nodes[n];
		const tensor *t = &g->tensors[of->output];
		if (x->pass[n] == PASS_WEIGHT &&
		    (t->output || is_gradient_of_turn(g, t)))
			x->pass[n] = PASS_BACKWARD;
		for (int i = 0; i < of->kernel->ninputs; i++) {
			node_id from = g->tensors[of->inputs[i]].producer;
			if (from != NONE && x->pass[from] == PASS_WEIGHT &&
			    is_body(g, n) &&
			    (x->pass[n] != PASS_WEIGHT ||
			     x->part[from] != x->part[n]))
				x->pass[from] = PASS_BACKWARD;
		}
	}
}

/* ---- what is once per run ------------------------------------------------ */

/* Puts nodes that are not settled into the first part that reads their
 * result. */
static void divide_by_readers(divider *x)
{
	const graph *g = x->g;
	for (node_id n = g->nnodes; n-- > 0;) {
		const node *of = &g->nodes[n];
		for (int i = 0; x->part[n] != NONE && i < of->kernel->ninputs;
		     i++) {
			node_id from = g->tensors[of->inputs[i]].producer;
			if (from == NONE || x->settled[from])
				continue;
			if (x->part[from] == NONE ||
			    x->part[from] > x->part[n])
				x->part[from] = x->part[n];
		}
	}
}

/* Puts nodes of the turns that nothing in the turns reads, such as a count of
 * labels, into the last part that they read from. */
static void divide_by_inputs(divider *x)
{
	const graph *g = x->g;
	for (node_id n = 0; n < g->nnodes; n++) {
		const node *of = &g->nodes[n];
		if (!is_body(g, n) || x->part[n] != NONE)
			continue;
		for (int i = 0; i < of->kernel->ninputs; i++) {
			node_id from = g->tensors[of->inputs[i]].producer;
			if (is_body(g, from) && x->part[from] > x->part[n])
				x->part[n] = x->part[from];
		}
	}
}

/* The part of the node that computes the largest input of a node, among nodes
 * whose part is known; NONE. */
static int part_of_inputs(const divider *x, node_id n)
{
	const graph *g = x->g;
	const node *of = &g->nodes[n];
	int64_t most = -1;
	int part = NONE;
	for (int i = 0; i < of->kernel->ninputs; i++) {
		const tensor *t = &g->tensors[of->inputs[i]];
		int64_t nbytes = tensor_nbytes(&t->type);
		if (t->producer == NONE || x->part[t->producer] == NONE ||
		    nbytes < most)
			continue;
		most = nbytes;
		part = x->part[t->producer];
	}
	return part;
}

/* By tensor: the part of a reader that is bound to a state and computes a
 * tensor of the same size; NONE.  Also for the tensors from which such an input
 * is made. */
static int *wanted_parts(const divider *x, arena *tmp)
{
	const graph *g = x->g;
	int *wanted = ARENA_ARRAY(tmp, int, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++)
		wanted[t] = NONE;
	for (node_id n = g->nnodes; n-- > 0;) {
		const node *of = &g->nodes[n];
		node_id root = x->passes.root[n];
		int64_t nbytes = tensor_nbytes(&g->tensors[of->output].type);
		int part = root != n ? x->part[root] : wanted[of->output];
		for (int i = 0; part != NONE && i < of->kernel->ninputs; i++) {
			const tensor *t = &g->tensors[of->inputs[i]];
			if (tensor_nbytes(&t->type) == nbytes)
				wanted[of->inputs[i]] = part;
		}
	}
	return wanted;
}

/* Whether one of a node's largest inputs belongs to a part. */
static bool has_largest(const divider *x, node_id n, int part)
{
	const graph *g = x->g;
	const node *of = &g->nodes[n];
	int64_t most = -1, own = -1;
	for (int i = 0; part != NONE && i < of->kernel->ninputs; i++) {
		const tensor *t = &g->tensors[of->inputs[i]];
		int64_t nbytes = tensor_nbytes(&t->type);
		if (t->producer == NONE || x->part[t->producer] == NONE)
			continue;
		most = nbytes > most ? nbytes : most;
		if (x->part[t->producer] == part && nbytes > own)
			own = nbytes;
	}
	return own >= 0 && own == most;
}

static void divide_after(divider *x)
{
	arena *tmp = arena_new();
	const int *wanted = wanted_parts(x, tmp);
	for (node_id n = 0; n < x->g->nnodes; n++) {
		node_id root = x->passes.root[n];
		if (x->g->turns->sections[n] != SECTION_AFTER)
			continue;
		int reader = wanted[x->g->nodes[n].output];
		x->part[n] = root != n && x->part[root] != NONE
				     ? x->part[root]
			     : has_largest(x, n, reader)
				     ? reader
				     : part_of_inputs(x, n);
	}
	arena_free(tmp);
}

/* Puts all readers of a next value, and the node that computes it, into the
 * first of their parts.  States of one element do not bind their readers. */
static void gather_next_values(divider *x)
{
	const graph *g = x->g;
	bool *is_next = NULL;
	arena *tmp = arena_new();
	is_next = ARENA_ARRAY(tmp, bool, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (g->tensors[t].next != NONE)
			is_next[g->tensors[t].next] = true;
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++) {
			tensor_id t = g->nodes[n].inputs[i];
			node_id from = g->tensors[t].producer;
			if (is_next[t])
				x->part[n] = x->part[from];
		}
	arena_free(tmp);
}

/* Divides the forward pass, then the backward pass, which follows it, then the
 * rest. */
static void divide(divider *x)
{
	divide_by_readers(x);
	divide_backward(x);
	find_passes(x);
	divide_by_readers(x);
	divide_by_inputs(x);
	divide_after(x);
	divide_by_readers(x);
	for (node_id n = 0; n < x->g->nnodes; n++)
		if (x->part[n] == NONE)
			x->part[n] = 0;
	gather_next_values(x);
}

static divider divider_new(arena *a, arena *tmp, const graph *g, int nparts,
			   const int *parts)
{
	const bool *is_layer = stage_layers(tmp, g);
	divider x = { g, graph_passes_of(tmp, g), nparts,
		      ARENA_ARRAY(tmp, int, g->nnodes),
		      ARENA_ARRAY(tmp, bool, g->nnodes),
		      ARENA_ARRAY(a, plan_pass, g->nnodes) };
	for (node_id n = 0; n < g->nnodes; n++) {
		x.part[n] = is_layer[n] ? parts[n] : NONE;
		x.settled[n] = is_layer[n] ||
			       (is_body(g, n) && x.passes.backward[n]) ||
			       g->turns->sections[n] == SECTION_AFTER;
	}
	return x;
}

stage_division stage_division_new(arena *a, const graph *g, int nstages,
				  int nchunks, const int *parts)
{
	arena *tmp = arena_new();
	int *stages = ARENA_ARRAY(a, int, g->nnodes);
	int *chunks = ARENA_ARRAY(a, int, g->nnodes);
	divider x = divider_new(a, tmp, g, nstages * nchunks, parts);
	divide(&x);
	for (node_id n = 0; n < g->nnodes; n++) {
		stages[n] = x.part[n] % nstages;
		chunks[n] = x.part[n] / nstages;
	}
	arena_free(tmp);
	return (stage_division){ nstages, nchunks, stages, chunks, x.pass };
}

/* ---- whether it is a pipeline -------------------------------------------- */

/* The place in a turn of a node of the body. */
static int place_of(const stage_division *d, node_id n)
{
	int part = stage_part_of(d, n);
	return d->pass[n] == PASS_FORWARD
		       ? part
		       : 2 * d->nstages * d->nchunks - 1 - part;
}

static bool may_read(const stage_division *d, node_id from, node_id n)
{
	if (d->pass[from] == PASS_WEIGHT)
		return d->pass[n] == PASS_WEIGHT &&
		       stage_part_of(d, from) == stage_part_of(d, n);
	return place_of(d, from) <= place_of(d, n);
}

static const char *read_too_early(arena *a, const graph *g,
				  const stage_division *d, node_id n,
				  tensor_id t)
{
	node_id from = g->tensors[t].producer;
	if (!is_body(g, n) || !is_body(g, from) || may_read(d, from, n))
		return NULL;
	return arena_printf(a, "'%s' of stage %d reads '%s', which stage %d "
			    "computes later", g->nodes[n].name, d->stage[n],
			    g->tensors[t].name, d->stage[from]);
}

/* The reason why a next value is read outside the stage of its state, where it
 * has to stay; NULL. */
static const char *next_read_elsewhere(arena *a, const graph *g,
				       const stage_division *d, node_id n,
				       const bool *is_next, tensor_id t)
{
	node_id from = g->tensors[t].producer;
	return is_next[t] && d->stage[from] != d->stage[n]
		       ? arena_printf(a, "'%s' of stage %d reads the new value "
				      "of a state of stage %d",
				      g->nodes[n].name, d->stage[n],
				      d->stage[from])
		       : NULL;
}

static const char *read_wrongly(arena *a, const graph *g,
				const stage_division *d)
{
	const char *why = NULL;
	bool *is_next = ARENA_ARRAY(a, bool, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (g->tensors[t].next != NONE)
			is_next[g->tensors[t].next] = true;
	for (node_id n = 0; !why && n < g->nnodes; n++)
		for (int i = 0; !why && i < g->nodes[n].kernel->ninputs; i++) {
			tensor_id t = g->nodes[n].inputs[i];
			why = read_too_early(a, g, d, n, t);
			if (!why)
				why = next_read_elsewhere(a, g, d, n, is_next,
							  t);
		}
	return why;
}

const char *stage_division_refused(arena *a, const graph *g,
				   const stage_division *d)
{
	const char *why = read_wrongly(a, g, d);
	for (tensor_id t = 0; !why && t < g->ntensors; t++) {
		tensor_id total = g->turns->total[t];
		if (total != NONE && total != t &&
		    d->stage[g->tensors[t].producer] !=
			    d->stage[g->tensors[total].producer])
			why = arena_printf(a, "'%s' is added up in another "
					   "stage than it is computed in",
					   g->tensors[t].name);
	}
	return why;
}
