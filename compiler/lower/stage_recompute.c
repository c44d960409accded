#include "config.h"

#include "compiler/lower/stage_recompute.h"

#include <stdlib.h>

#include "base/hash.h"

typedef struct repeater {
	arena *a, *tmp;
	const graph *g;
	const stage_division *d;
	tensor_id *copy; /* by tensor: its copy; NONE */
	/* The nodes of the new graph: nodes of g by number, copies after
	 * these. */
	VEC(int) order;
	VEC(node_id) copied;
	int *number; /* by node of g: number in the new graph */
	const char **names; /* by copy: name of the node, of the tensor */
	const char **tensor_names;
	int calls; /* number of calls so far */
} repeater;

static bool is_copy(const repeater *x, int entry)
{
	return entry >= x->g->nnodes;
}

static node_id original(const repeater *x, int entry)
{
	return is_copy(x, entry) ? x->copied.at[entry - x->g->nnodes] : entry;
}

/* ---- what is computed again ---------------------------------------------- */

/* Whether the backward pass of a part reads a tensor that the part's forward
 * pass computes. */
static bool is_again(const repeater *x, int part, tensor_id t)
{
	const graph *g = x->g;
	node_id from = g->tensors[t].producer;
	return from != NONE && !g->tensors[t].output &&
	       g->turns->sections[from] == SECTION_BODY &&
	       x->d->pass[from] == PASS_FORWARD &&
	       stage_part_of(x->d, from) == part;
}

static int ascending(const void *x, const void *y)
{
	node_id a = *(const node_id *)x, b = *(const node_id *)y;
	return (a > b) - (a < b);
}

/* Adds copies of the node that makes t, and of all that it needs. */
static void repeat(repeater *x, int part, tensor_id t)
{
	const graph *g = x->g;
	VEC(node_id) all = { 0 };
	x->copy[t] = t; /* marks it as visited */
	vec_push(x->tmp, &all, g->tensors[t].producer);
	for (int i = 0; i < all.n; i++) {
		const node *n = &g->nodes[all.at[i]];
		for (int j = 0; j < n->kernel->ninputs; j++) {
			tensor_id in = n->inputs[j];
			if (x->copy[in] != NONE || !is_again(x, part, in))
				continue;
			x->copy[in] = in;
			vec_push(x->tmp, &all, g->tensors[in].producer);
		}
	}
	if (all.n > 0)
		qsort(all.at, (size_t)all.n, sizeof(*all.at), ascending);
	for (int i = 0; i < all.n; i++) {
		tensor_id made = g->nodes[all.at[i]].output;
		x->copy[made] = g->ntensors + x->copied.n;
		vec_push(x->tmp, &x->order, g->nnodes + x->copied.n);
		vec_push(x->tmp, &x->copied, all.at[i]);
	}
}

static void find_copies(repeater *x)
{
	const graph *g = x->g;
	for (tensor_id t = 0; t < g->ntensors; t++)
		x->copy[t] = NONE;
	for (node_id n = 0; n < g->nnodes; n++) {
		const node *of = &g->nodes[n];
		int part = stage_part_of(x->d, n);
		bool reads = g->turns->sections[n] == SECTION_BODY &&
			     x->d->pass[n] != PASS_FORWARD;
		for (int i = 0; reads && i < of->kernel->ninputs; i++)
			if (x->copy[of->inputs[i]] == NONE &&
			    is_again(x, part, of->inputs[i]))
				repeat(x, part, of->inputs[i]);
		x->number[n] = x->order.n;
		vec_push(x->tmp, &x->order, n);
	}
}

static void find_names(repeater *x)
{
	const graph *g = x->g;
	strmap *names = strmap_new(x->tmp);
	x->names = ARENA_ARRAY(x->tmp, const char *, x->copied.n);
	x->tensor_names = ARENA_ARRAY(x->tmp, const char *, x->copied.n);
	for (tensor_id t = 0; t < g->ntensors; t++)
		strmap_put(names, g->tensors[t].name, x);
	for (node_id n = 0; n < g->nnodes; n++) {
		strmap_put(names, g->nodes[n].name, x);
		if (g->nodes[n].call >= x->calls)
			x->calls = g->nodes[n].call + 1;
	}
	for (int i = 0; i < x->copied.n; i++) {
		const node *n = &g->nodes[x->copied.at[i]];
		const tensor *t = &g->tensors[n->output];
		x->names[i] = turns_name(x->a, names, n->name, "again");
		x->tensor_names[i] = turns_name(x->a, names, t->name, "again");
	}
}

/* ---- the graph ----------------------------------------------------------- */

/* The node of the new graph for a node of g or a copy. */
static node node_of(const repeater *x, const graph *g, int entry)
{
	node_id from = original(x, entry);
	node n = g->nodes[from];
	const bool copies = is_copy(x, entry) ||
			    x->d->pass[from] != PASS_FORWARD;
	int part = stage_part_of(x->d, from);
	n.inputs = ARENA_COPY(x->a, n.inputs, n.kernel->ninputs);
	for (int i = 0; i < n.kernel->ninputs; i++)
		if (copies && x->copy[n.inputs[i]] != NONE &&
		    is_again(x, part, n.inputs[i]))
			n.inputs[i] = x->copy[n.inputs[i]];
	if (n.forward != NONE)
		n.forward = x->number[n.forward];
	if (!is_copy(x, entry))
		return n;
	n.name = x->names[entry - g->nnodes];
	n.output = x->copy[n.output];
	n.forward = x->number[from];
	n.call += x->calls;
	return n;
}

static const graph_turns *turns_of(const repeater *x, const graph *g)
{
	const graph_turns *from = g->turns;
	graph_turns *to = ARENA_COPY(x->a, from, 1);
	int ntensors = g->ntensors + x->copied.n;
	int *cut = ARENA_ARRAY(x->a, int, ntensors);
	reducer *partial = ARENA_ARRAY(x->a, reducer, ntensors);
	tensor_id *total = ARENA_ARRAY(x->a, tensor_id, ntensors);
	int *divided = ARENA_ARRAY(x->a, int, x->order.n);
	section *sections = ARENA_ARRAY(x->a, section, x->order.n);
	for (int i = 0; i < ntensors; i++) {
		tensor_id t = i;
		if (i >= g->ntensors)
			t = g->nodes[x->copied.at[i - g->ntensors]].output;
		cut[i] = from->cut[t];
		partial[i] = from->partial[t];
		total[i] = i < g->ntensors ? from->total[t] : NONE;
	}
	for (int i = 0; i < x->order.n; i++) {
		divided[i] = from->divided[original(x, x->order.at[i])];
		sections[i] = from->sections[original(x, x->order.at[i])];
	}
	to->cut = cut;
	to->partial = partial;
	to->total = total;
	to->divided = divided;
	to->sections = sections;
	return to;
}

static graph *rewritten(const repeater *x, const graph *g)
{
	graph *to = ARENA_COPY(x->a, g, 1);
	to->ntensors = g->ntensors + x->copied.n;
	to->nnodes = x->order.n;
	to->tensors = ARENA_ARRAY(x->a, tensor, to->ntensors);
	to->nodes = ARENA_ARRAY(x->a, node, to->nnodes);
	for (tensor_id t = 0; t < g->ntensors; t++)
		to->tensors[t] = g->tensors[t];
	for (int i = 0; i < x->copied.n; i++) {
		tensor *t = &to->tensors[g->ntensors + i];
		*t = g->tensors[g->nodes[x->copied.at[i]].output];
		t->name = x->tensor_names[i];
	}
	for (int i = 0; i < to->nnodes; i++) {
		to->nodes[i] = node_of(x, g, x->order.at[i]);
		to->tensors[to->nodes[i].output].producer = i;
	}
	return to;
}

const graph *stage_recompute(arena *a, const graph *g, const stage_division *d,
			     stage_division *to)
{
	repeater x = { .a = a, .tmp = arena_new(), .g = g, .d = d };
	x.copy = ARENA_ARRAY(x.tmp, tensor_id, g->ntensors);
	x.number = ARENA_ARRAY(x.tmp, int, g->nnodes);
	find_copies(&x);
	find_names(&x);
	graph *new = rewritten(&x, g);
	new->turns = turns_of(&x, g);
	if (g->whole) {
		graph *whole = rewritten(&x, g->whole);
		whole->turns = new->turns;
		new->whole = whole;
	}
	int *parts = ARENA_ARRAY(x.tmp, int, new->nnodes);
	for (int i = 0; i < new->nnodes; i++)
		parts[i] = stage_part_of(d, original(&x, x.order.at[i]));
	*to = stage_division_new(a, new, d->nstages, d->nchunks, parts);
	arena_free(x.tmp);
	return new;
}
