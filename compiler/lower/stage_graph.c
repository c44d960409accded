#include "config.h"

#include "compiler/lower/stage_graph.h"

#include <string.h>

#include "base/intern.h"

/* ---- homes ------------------------------------------------------------- */

/* Sets the stage of a state: that of its next value, or of its first reader. */
static void find_home_of_state(const stage_homes *h, tensor_id t)
{
	const graph *g = h->g;
	tensor_id next = g->tensors[t].next;
	if (next != NONE) {
		h->home[t] = h->d->stage[g->tensors[next].producer];
		return;
	}
	h->home[t] = 0;
	for (node_id n = g->nnodes; n-- > 0;)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
			if (g->nodes[n].inputs[i] == t)
				h->home[t] = h->d->stage[n];
}

/* Puts an input that nobody reads, and an output that is an input or a
 * constant, into the first stage. */
static void place_rest(const stage_homes *h)
{
	const graph *g = h->g;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		bool found = false;
		for (int s = 0; s < h->d->nstages; s++)
			found |= h->there[s * g->ntensors + t];
		if (h->home[t] == NONE && (!found || x->output))
			h->there[t] = true;
	}
}

stage_homes stage_homes_of(arena *a, const graph *g, const stage_division *d)
{
	stage_homes h = { .g = g, .d = d };
	h.home = ARENA_ARRAY(a, int, g->ntensors);
	h.there = ARENA_ARRAY(a, bool,
			      (size_t)g->ntensors * (size_t)d->nstages);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		h.home[t] = NONE;
		if (g->tensors[t].kind == TENSOR_RESULT)
			h.home[t] = d->stage[g->tensors[t].producer];
		if (g->tensors[t].kind == TENSOR_STATE)
			find_home_of_state(&h, t);
		if (h.home[t] != NONE)
			h.there[h.home[t] * g->ntensors + t] = true;
	}
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
			h.there[d->stage[n] * g->ntensors +
				g->nodes[n].inputs[i]] = true;
	place_rest(&h);
	return h;
}

bool stage_receives(const stage_homes *h, int nth, tensor_id t)
{
	return h->home[t] != NONE && h->home[t] != nth &&
	       h->there[nth * h->g->ntensors + t];
}

/* Whether another stage gets a tensor from its home. */
static bool is_sent(const stage_homes *h, tensor_id t)
{
	for (int s = 0; s < h->d->nstages; s++)
		if (stage_receives(h, s, t))
			return true;
	return false;
}

/* ---- the graph of a stage ---------------------------------------------- */

typedef struct extractor {
	arena *a;
	const stage_homes *h;
	int stage;
	int *tensors, *nodes;
} extractor;

static tensor_id mapped(const int *number, tensor_id t)
{
	return t == NONE ? NONE : number[t];
}

/* Makes a tensor that another stage has an input, whatever it is there. */
static void receive(tensor *t)
{
	t->kind = TENSOR_INPUT;
	t->output = t->parameter = false;
	t->constant = (constant){ 0 };
	t->value = NULL;
	t->next = NONE;
	t->batch = 0;
}

static void put_tensors(const extractor *x, const graph *g, graph *to)
{
	to->tensors = ARENA_ARRAY(x->a, tensor, g->ntensors);
	to->ntensors = 0;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		if (x->tensors[t] == NONE)
			continue;
		tensor *n = &to->tensors[to->ntensors++];
		*n = g->tensors[t];
		if (stage_receives(x->h, x->stage, t))
			receive(n);
		else if (n->kind == TENSOR_RESULT && is_sent(x->h, t))
			n->output = true;
		if (x->h->home[t] == NONE && x->stage > 0)
			n->output = false;
		n->producer = n->kind == TENSOR_RESULT ? x->nodes[n->producer]
						       : NONE;
		n->next = mapped(x->tensors, n->next);
		n->gradient_of = mapped(x->tensors, n->gradient_of);
	}
}

static void put_nodes(const extractor *x, const graph *g, graph *to)
{
	to->nodes = ARENA_ARRAY(x->a, node, g->nnodes);
	to->nnodes = 0;
	for (node_id i = 0; i < g->nnodes; i++) {
		if (x->nodes[i] == NONE)
			continue;
		node *n = &to->nodes[to->nnodes++];
		*n = g->nodes[i];
		n->inputs = ARENA_ARRAY(x->a, tensor_id, n->kernel->ninputs);
		for (int j = 0; j < n->kernel->ninputs; j++)
			n->inputs[j] = x->tensors[g->nodes[i].inputs[j]];
		n->output = x->tensors[n->output];
		n->forward = n->forward == NONE ? NONE : x->nodes[n->forward];
	}
}

/* Lists the model's inputs and outputs of this stage in the model's order, then
 * those between stages. */
static void put_ends(const extractor *x, const graph *g, graph *to)
{
	to->inputs = ARENA_ARRAY(x->a, tensor_id, g->ntensors);
	to->outputs = ARENA_ARRAY(x->a, tensor_id, g->ntensors);
	to->ninputs = to->noutputs = 0;
	for (int i = 0; i < g->ninputs; i++)
		if (x->tensors[g->inputs[i]] != NONE)
			to->inputs[to->ninputs++] = x->tensors[g->inputs[i]];
	for (int i = 0; i < g->noutputs; i++) {
		tensor_id t = mapped(x->tensors, g->outputs[i]);
		if (t != NONE && to->tensors[t].output)
			to->outputs[to->noutputs++] = t;
	}
	for (tensor_id t = 0; t < g->ntensors; t++) {
		tensor_id n = x->tensors[t];
		if (n == NONE)
			continue;
		if (stage_receives(x->h, x->stage, t))
			to->inputs[to->ninputs++] = n;
		else if (to->tensors[n].output && !g->tensors[t].output)
			to->outputs[to->noutputs++] = n;
	}
}

/* The tensor's number if it belongs to the model and its home is here; NONE. */
static tensor_id own(const extractor *x, tensor_id t)
{
	return t == NONE || stage_receives(x->h, x->stage, t) ? NONE
							      : x->tensors[t];
}

/* Parts of a sum are added up where they are computed. */
static const graph_turns *turns_of(const extractor *x, const graph *g)
{
	const graph_turns *kept = graph_turns_kept(x->a, g, x->tensors,
						   x->nodes);
	graph_turns *to = ARENA_COPY(x->a, kept, 1);
	tensor_id *total = ARENA_COPY(x->a, kept->total, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (stage_receives(x->h, x->stage, t))
			total[x->tensors[t]] = NONE;
	to->total = total;
	return to;
}

/* Keeps what only folds read, and what folds read and other stages have. */
static void put_kept(const extractor *x, const graph *g, graph *to)
{
	if (g->nfolds == 0)
		return;
	arena *tmp = arena_new();
	strmap *read = strmap_new(tmp);
	for (int i = 0; i < g->nfolds; i++)
		for (int j = 0; j < g->folds[i].ninputs; j++)
			strmap_put(read, g->folds[i].inputs[j], tmp);
	to->kept = ARENA_ARRAY(x->a, tensor, g->nkept + g->ntensors);
	for (int i = 0; i < g->nkept; i++)
		to->kept[i] = g->kept[i];
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (x->tensors[t] == NONE &&
		    strmap_get(read, g->tensors[t].name))
			to->kept[to->nkept++] = g->tensors[t];
	arena_free(tmp);
}

static graph *extract(const extractor *x, const graph *g)
{
	graph *to = ARENA_COPY(x->a, g, 1);
	put_kept(x, g, to);
	put_tensors(x, g, to);
	put_nodes(x, g, to);
	put_ends(x, g, to);
	to->loss = own(x, g->loss);
	to->learning_rate = own(x, g->learning_rate);
	to->loss_scale = own(x, g->loss_scale);
	to->position = g->length > 0 ? own(x, g->position) : NONE;
	to->length = to->position != NONE ? g->length : 0;
	to->nfixed = 0;
	to->turns = turns_of(x, g);
	return to;
}

graph *stage_graph(arena *a, const stage_homes *h, int nth, int *tensors)
{
	const graph *g = h->g;
	extractor x = { a, h, nth, tensors,
			ARENA_ARRAY(a, int, g->nnodes) };
	int n = 0;
	for (tensor_id t = 0; t < g->ntensors; t++)
		tensors[t] = h->there[nth * g->ntensors + t] ? n++ : NONE;
	n = 0;
	for (node_id i = 0; i < g->nnodes; i++)
		x.nodes[i] = h->d->stage[i] == nth ? n++ : NONE;
	graph *to = extract(&x, g);
	if (g->whole)
		to->whole = extract(&x, g->whole);
	return to;
}
