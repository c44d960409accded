#include "config.h"

#include "compiler/lower/stage_ties.h"

#include <string.h>

#include "base/hash.h"

/* A sum of parts of two stages.  Node `sum' of the body adds tensors left and
 * right to `out', which node `copy' copies after the turns.  Node `sum' becomes
 * a copy of left, a new node becomes a copy of right, and node `copy' adds
 * them.  If one of the two is itself a sum of parts, it is left, even if it is
 * the second input. */
typedef struct tie {
	node_id sum, copy;
	bool turned; /* left is the second input */
	tensor_id left, right, out;
	tensor_id added; /* copy of right */
	/* for the copies: names of nodes and of tensors */
	const char *left_name, *right_name;
} tie;

typedef struct tier {
	arena *a, *tmp;
	const graph *g;
	const stage_division *d;
	int *nreaders; /* by tensor */
	graph_turns *turns; /* the new ones */
	section *sections;  /* .. by old node number */
	int *divided;
	reducer *partial; /* by tensor */
	tensor_id *total;
	VEC(tie) ties;
	node_id *before; /* by node: 1 + the tie whose new node precedes it */
	strmap *names;
} tier;

/* ---- what is tied -------------------------------------------------------- */

static bool is_part(const tier *x, tensor_id t)
{
	const tensor *of = &x->g->tensors[t];
	return of->producer != NONE && !of->output && x->nreaders[t] == 1 &&
	       x->total[t] == NONE && x->partial[t] != RED_NONE &&
	       x->sections[of->producer] == SECTION_BODY;
}

static bool same_type(const tensor *x, const tensor *y)
{
	return x->type.type == y->type.type && x->type.ndim == y->type.ndim &&
	       !memcmp(x->type.dims, y->type.dims,
		       (size_t)x->type.ndim * sizeof(*x->type.dims));
}

/* Whether node n adds parts of two stages.  Parts with fewer bits than their
 * sum are left alone, as adding up many turns needs the longer type. */
static bool adds_parts(const tier *x, node_id n)
{
	const node *of = &x->g->nodes[n];
	const tensor *out = &x->g->tensors[of->output];
	const tensor *t = x->g->tensors;
	if (x->sections[n] != SECTION_BODY || of->kernel->ninputs != 2 ||
	    x->divided[n] != NONE || out->output ||
	    x->nreaders[of->output] != 1 || !is_part(x, of->inputs[0]) ||
	    !is_part(x, of->inputs[1]) ||
	    !same_type(&t[of->inputs[0]], out) ||
	    !same_type(&t[of->inputs[1]], out))
		return false;
	return x->partial[of->inputs[0]] == x->partial[of->output] &&
	       x->partial[of->inputs[1]] == x->partial[of->output] &&
	       x->d->stage[t[of->inputs[0]].producer] !=
		       x->d->stage[t[of->inputs[1]].producer];
}

/* Also that only the total of the sum over all turns is needed, by a node that
 * exists already. */
static bool is_tie(const tier *x, node_id n)
{
	tensor_id out = x->g->nodes[n].output, total = x->total[out];
	return total != NONE && total != out && total < x->g->ntensors &&
	       adds_parts(x, n);
}

static void add_tie(tier *x, node_id n)
{
	const graph *g = x->g;
	const node *of = &g->nodes[n];
	const tensor_id *in = of->inputs;
	bool turned = !adds_parts(x, g->tensors[in[0]].producer) &&
		      adds_parts(x, g->tensors[in[1]].producer);
	tie t = { .sum = n,
		  .copy = g->tensors[x->total[of->output]].producer,
		  .turned = turned,
		  .left = in[turned], .right = in[!turned],
		  .out = of->output, .added = g->ntensors + x->ties.n };
	t.left_name = turns_name(x->a, x->names, g->tensors[t.left].name,
				 "total");
	t.right_name = turns_name(x->a, x->names, g->tensors[t.right].name,
				  "total");
	x->total[t.left] = t.out;
	x->total[t.right] = t.added;
	x->total[t.out] = x->total[t.added] = NONE;
	x->partial[t.out] = x->partial[t.added] = RED_NONE;
	x->sections[n] = SECTION_AFTER;
	vec_push(x->tmp, &x->ties, t);
	x->before[t.copy] = x->ties.n;
}

/* Goes backwards, so that a sum of sums is tied first. */
static void find_ties(tier *x)
{
	const graph *g = x->g;
	for (tensor_id t = 0; t < g->ntensors; t++)
		strmap_put(x->names, g->tensors[t].name, x);
	for (node_id n = 0; n < g->nnodes; n++) {
		strmap_put(x->names, g->nodes[n].name, x);
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
			x->nreaders[g->nodes[n].inputs[i]]++;
	}
	for (node_id n = g->nnodes; n-- > 0;)
		if (is_tie(x, n))
			add_tie(x, n);
}

/* ---- the graph ----------------------------------------------------------- */

static tensor_id *inputs_of(const tier *x, int n, tensor_id left,
			    tensor_id right)
{
	tensor_id *inputs = ARENA_ARRAY(x->a, tensor_id, n);
	inputs[0] = left;
	if (n > 1)
		inputs[1] = right;
	return inputs;
}

/* Applies a tie to the nodes, by their old numbers.  *more becomes the new
 * node. */
static void apply(const tier *x, const tie *t, node *nodes, tensor *tensors,
		  node *more)
{
	const node copy = nodes[t->copy], sum = nodes[t->sum];
	nodes[t->copy] = sum;
	nodes[t->copy].output = copy.output;
	nodes[t->copy].inputs = t->turned ?
		inputs_of(x, 2, t->added, t->out) :
		inputs_of(x, 2, t->out, t->added);
	nodes[t->sum] = *more = copy;
	nodes[t->sum].name = t->left_name;
	nodes[t->sum].output = t->out;
	nodes[t->sum].inputs = inputs_of(x, 1, t->left, NONE);
	more->name = t->right_name;
	more->output = t->added;
	more->inputs = inputs_of(x, 1, t->right, NONE);
	tensors[t->added] = tensors[t->out];
	tensors[t->added].name = t->right_name;
	tensors[t->out].name = t->left_name;
}

/* The new numbers of nodes.  Each new node precedes the node that adds it. */
static int *numbers_of(const tier *x)
{
	int *number = ARENA_ARRAY(x->tmp, int, x->g->nnodes), n = 0;
	for (node_id i = 0; i < x->g->nnodes; i++) {
		n += x->before[i] > 0;
		number[i] = n++;
	}
	return number;
}

static graph *rewritten(const tier *x, const graph *g, const int *number)
{
	graph *to = ARENA_COPY(x->a, g, 1);
	node *nodes = ARENA_COPY(x->tmp, g->nodes, g->nnodes);
	node *more = ARENA_ARRAY(x->tmp, node, x->ties.n);
	to->ntensors += x->ties.n;
	to->nnodes += x->ties.n;
	to->tensors = ARENA_ARRAY(x->a, tensor, to->ntensors);
	memcpy(to->tensors, g->tensors,
	       (size_t)g->ntensors * sizeof(*g->tensors));
	for (int i = 0; i < x->ties.n; i++)
		apply(x, &x->ties.at[i], nodes, to->tensors, &more[i]);
	to->nodes = ARENA_ARRAY(x->a, node, to->nnodes);
	for (node_id i = 0; i < g->nnodes; i++) {
		to->nodes[number[i]] = nodes[i];
		if (x->before[i] > 0)
			to->nodes[number[i] - 1] = more[x->before[i] - 1];
	}
	for (node_id i = 0; i < to->nnodes; i++) {
		node *n = &to->nodes[i];
		if (n->forward != NONE)
			n->forward = number[n->forward];
		to->tensors[n->output].producer = i;
	}
	return to;
}

/* ---- all ----------------------------------------------------------------- */

static tier tier_new(arena *a, const graph *g, const stage_division *d)
{
	tier x = { .a = a, .tmp = arena_new(), .g = g, .d = d };
	/* Each tie needs a node of its own, so this is an upper bound. */
	int n = g->ntensors + g->nnodes;
	reducer *partial = ARENA_ARRAY(a, reducer, n);
	tensor_id *total = ARENA_ARRAY(a, tensor_id, n);
	int *cut = ARENA_ARRAY(a, int, n);
	for (int t = 0; t < n; t++) {
		bool old = t < g->ntensors;
		partial[t] = old ? g->turns->partial[t] : RED_NONE;
		total[t] = old ? g->turns->total[t] : NONE;
		cut[t] = old ? g->turns->cut[t] : NONE;
	}
	x.nreaders = ARENA_ARRAY(x.tmp, int, g->ntensors);
	x.before = ARENA_ARRAY(x.tmp, node_id, g->nnodes);
	x.names = strmap_new(x.tmp);
	x.sections = ARENA_COPY(x.tmp, g->turns->sections, g->nnodes);
	x.divided = ARENA_COPY(x.tmp, g->turns->divided, g->nnodes);
	x.turns = ARENA_COPY(a, g->turns, 1);
	x.turns->partial = x.partial = partial;
	x.turns->total = x.total = total;
	x.turns->cut = cut;
	return x;
}

static void set_turns(tier *x, const int *number)
{
	int n = x->g->nnodes + x->ties.n;
	section *sections = ARENA_ARRAY(x->a, section, n);
	int *divided = ARENA_ARRAY(x->a, int, n);
	for (int i = 0; i < n; i++) {
		sections[i] = SECTION_AFTER;
		divided[i] = NONE;
	}
	for (node_id i = 0; i < x->g->nnodes; i++) {
		sections[number[i]] = x->sections[i];
		divided[number[i]] = x->divided[i];
	}
	x->turns->sections = sections;
	x->turns->divided = divided;
}

const graph *stage_ties(arena *a, const graph *g, const stage_division *d,
			stage_division *to)
{
	tier x = tier_new(a, g, d);
	find_ties(&x);
	const int *number = numbers_of(&x);
	set_turns(&x, number);
	graph *new = rewritten(&x, g, number);
	new->turns = x.turns;
	if (g->whole) {
		graph *whole = rewritten(&x, g->whole, number);
		whole->turns = x.turns;
		new->whole = whole;
	}
	int *parts = ARENA_ARRAY(x.tmp, int, new->nnodes);
	for (node_id i = 0; i < g->nnodes; i++)
		parts[number[i]] = stage_part_of(d, i);
	*to = stage_division_new(a, new, d->nstages, d->nchunks, parts);
	arena_free(x.tmp);
	return new;
}
