#include "config.h"

#include "compiler/graph/canonical.h"

#include <stdlib.h>

#include "base/hash.h"

enum { MOST_ROUNDS = 16 }; /* rounds of refining colours */

typedef uint64_t colour;

/* A node that is being visited, and the nodes that compute its operands. */
typedef struct visit {
	node_id node;
	node_id *first;
	int n, at;
} visit;

typedef struct canon {
	arena *a, *tmp;
	const graph *g;
	colour *of;	  /* by tensor */
	colour *kernels;  /* by node */
	colour **roles;	  /* by node: of its operands */
	/* by node: length of the longest chain that ends there */
	int *depth;
	int *nodes;	  /* new number by node; NONE: not numbered yet */
	int *tensors;	  /* new number by tensor, likewise */
	int nnodes, ntensors;
} canon;

static colour mix(colour x, colour y)
{
	return hash_bytes(x, &y, sizeof(y));
}

/* ---- kernels ----------------------------------------------------------- */

/* Whether the order of a function's arguments does not matter.  exact: to the
 * last bit; choices do not qualify then, as of two zeros with different signs
 * they take the second. */
static bool is_in_any_order(fn f, bool exact)
{
	return fn_table[f].commutes ||
	       (!exact && fn_table[f].choice != FN_NO_CHOICE);
}

static colour leaf_colour(const kexpr *e, const colour *inputs)
{
	if (e->kind == KX_FLOAT)
		return hash_bytes(HASH_SEED, &e->f, sizeof(e->f));
	return e->kind == KX_READ ? inputs[e->input] :
	       e->kind == KX_VAR  ? (colour)e->var :
	       e->kind == KX_FN	  ? (colour)e->fn :
				    (colour)e->i;
}

/* The colour of an expression that reads inputs of these colours.  exact: equal
 * colours mean equal results to the last bit. */
static colour body_colour(const kexpr *e, const colour *inputs, bool exact)
{
	colour c = mix(mix(HASH_SEED, e->kind), (colour)e->type), sum = 0;
	bool any_order = e->kind == KX_FN && is_in_any_order(e->fn, exact);
	c = mix(mix(c, leaf_colour(e, inputs)), e->guarded);
	for (int i = 0; i < e->nargs; i++) {
		colour x = body_colour(e->args[i], inputs, exact);
		if (any_order)
			sum += x;
		else
			c = mix(c, x);
	}
	return any_order ? mix(c, sum) : c;
}

/* The colour of a kernel, or of the role that one of its inputs has for it. */
static colour kernel_colour(const kernel *k, int input)
{
	colour inputs[MAX_NINPUTS] = { 0 };
	if (!k->body)
		return mix(kernel_hash(k), (colour)(input + 1));
	colour c = mix(mix(HASH_SEED, k->reducer), (colour)k->type);
	for (int v = 0; v < k->nvars; v++)
		c = mix(mix(c, (colour)k->vars[v].extent), k->vars[v].kind);
	if (input != NONE)
		inputs[input] = 1;
	c = mix(c, (colour)k->nderived);
	return mix(c, body_colour(k->body, inputs, false));
}

/* The first node with the kernel of node n, as nodes share kernels. */
static node_id first_with(canon *c, hash_table *seen, node_id n)
{
	const kernel *k = c->g->nodes[n].kernel;
	uint64_t hash = hash_bytes(HASH_SEED, &k, sizeof(k));
	uint32_t at = 0;
	for (int i; (i = hash_table_next(seen, hash, &at)) >= 0;)
		if (c->g->nodes[i].kernel == k)
			return i;
	hash_table_add(c->tmp, seen, hash, n);
	return n;
}

static void colour_kernels(canon *c)
{
	const graph *g = c->g;
	hash_table seen = { 0 };
	for (node_id n = 0; n < g->nnodes; n++) {
		const kernel *k = g->nodes[n].kernel;
		node_id first = first_with(c, &seen, n);
		if (first != n) {
			c->kernels[n] = c->kernels[first];
			c->roles[n] = c->roles[first];
			continue;
		}
		c->kernels[n] = kernel_colour(k, NONE);
		c->roles[n] = ARENA_ARRAY(c->tmp, colour, k->ninputs);
		for (int i = 0; i < k->ninputs; i++)
			c->roles[n][i] = kernel_colour(k, i);
	}
}

/* ---- tensors ----------------------------------------------------------- */

/* The kind of a tensor.  A weight whose elements the model has, and which no
 * run changes, counts as a constant. */
static tensor_kind kind_of(const tensor *t)
{
	const constant *c = &t->constant;
	bool given = c->init == INIT_NONE && !c->fill;
	return t->kind == TENSOR_STATE && t->parameter && t->next == NONE &&
			       given
		       ? TENSOR_CONSTANT
		       : t->kind;
}

static colour first_colour(const tensor *t)
{
	colour c = mix(mix(HASH_SEED, kind_of(t)), (colour)t->type.type);
	for (int d = 0; d < t->type.ndim; d++)
		c = mix(c, (colour)t->type.dims[d]);
	return mix(mix(mix(c, t->output), t->parameter), t->next != NONE);
}

/* Refines colours by what a tensor is computed from. */
static void colour_down(canon *c)
{
	const graph *g = c->g;
	for (node_id n = 0; n < g->nnodes; n++) {
		const node *x = &g->nodes[n];
		colour sum = 0, *to = &c->of[x->output];
		for (int i = 0; i < x->kernel->ninputs; i++)
			sum += mix(c->roles[n][i], c->of[x->inputs[i]]);
		*to = mix(mix(*to, c->kernels[n]), sum);
	}
}

/* Refines colours by what is computed from a tensor.  Readers come after what
 * they read, so nodes are visited in reverse. */
static void colour_up(canon *c)
{
	const graph *g = c->g;
	colour *read = ARENA_ARRAY(c->tmp, colour, g->ntensors);
	for (node_id n = g->nnodes - 1; n >= 0; n--) {
		const node *x = &g->nodes[n];
		colour by = mix(c->of[x->output], read[x->output]);
		for (int i = 0; i < x->kernel->ninputs; i++)
			read[x->inputs[i]] += mix(c->roles[n][i], by);
	}
	for (tensor_id t = 0; t < g->ntensors; t++)
		c->of[t] = mix(c->of[t], read[t]);
}

/* Refines the colours of states and of their next values by each other. */
static void colour_states(canon *c)
{
	const graph *g = c->g;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		tensor_id next = g->tensors[t].next;
		if (next == NONE)
			continue;
		colour both = mix(c->of[t], c->of[next]);
		c->of[t] = mix(both, 0);
		c->of[next] = mix(both, 1);
	}
}

static int by_colour(const void *x, const void *y)
{
	colour a = *(const colour *)x, b = *(const colour *)y;
	return (a > b) - (a < b);
}

static int count_colours(const canon *c)
{
	int n = c->g->ntensors, count = n > 0;
	colour *sorted = ARENA_COPY(c->tmp, c->of, n);
	qsort(sorted, (size_t)n, sizeof(*sorted), by_colour);
	for (int i = 1; i < n; i++)
		count += sorted[i] != sorted[i - 1];
	return count;
}

static void colour_tensors(canon *c)
{
	int before = 0, now = 1;
	for (tensor_id t = 0; t < c->g->ntensors; t++)
		c->of[t] = first_colour(&c->g->tensors[t]);
	for (int i = 0; i < MOST_ROUNDS && now > before; i++) {
		before = now;
		colour_down(c);
		colour_up(c);
		colour_states(c);
		now = count_colours(c);
	}
}

/* ---- which goes first --------------------------------------------------- */

/* An operand that may be visited next. */
typedef struct choice {
	node_id node; /* computes it */
	int depth;    /* depth of that node */
	colour role, is;
	int seen; /* least new number of the node's inputs */
} choice;

static int by_merit(const void *x, const void *y)
{
	const choice *a = x, *b = y;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	if (a->is != b->is)
		return a->is < b->is ? -1 : 1;
	if (a->seen != b->seen)
		return a->seen < b->seen ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* The least new number among a node's inputs.  Of two equivalent nodes the one
 * with the smaller number goes first. */
static int first_seen(const canon *c, node_id n)
{
	const node *x = &c->g->nodes[n];
	int least = c->g->ntensors;
	for (int i = 0; i < x->kernel->ninputs; i++) {
		int number = c->tensors[x->inputs[i]];
		if (number != NONE && number < least)
			least = number;
	}
	return least;
}

static choice choice_of(const canon *c, tensor_id t, colour role)
{
	node_id n = c->g->tensors[t].producer;
	return (choice){ n, c->depth[n], role, c->of[t], first_seen(c, n) };
}

static void find_depths(canon *c)
{
	const graph *g = c->g;
	for (node_id n = 0; n < g->nnodes; n++) {
		const node *x = &g->nodes[n];
		for (int i = 0; i < x->kernel->ninputs; i++) {
			node_id by = g->tensors[x->inputs[i]].producer;
			if (by != NONE && c->depth[by] >= c->depth[n])
				c->depth[n] = c->depth[by] + 1;
		}
	}
}

/* ---- one after the other ------------------------------------------------ */

static visit visit_of(const canon *c, node_id n)
{
	const node *x = &c->g->nodes[n];
	int m = 0, ninputs = x->kernel->ninputs;
	choice *all = ARENA_ARRAY(c->tmp, choice, ninputs);
	for (int i = 0; i < ninputs; i++)
		if (c->g->tensors[x->inputs[i]].producer != NONE) {
			all[m] = choice_of(c, x->inputs[i], c->roles[n][i]);
			all[m].depth = -all[m].depth;
			m++;
		}
	qsort(all, (size_t)m, sizeof(*all), by_merit);
	visit v = { .node = n, .n = m,
		    .first = ARENA_ARRAY(c->tmp, node_id, m) };
	for (int i = 0; i < m; i++)
		v.first[i] = all[i].node;
	return v;
}

static void number_tensor(canon *c, tensor_id t)
{
	if (c->tensors[t] == NONE)
		c->tensors[t] = c->ntensors++;
}

typedef struct operand {
	colour role, made, is; /* made: the kernel that computes it; 0 */
	tensor_id tensor;
	int slot;
} operand;

/* Operands with one role go by the kernels that compute them, which do not
 * depend on the rest of the graph: steps of a loop then have the same nodes. */
static int by_role(const void *x, const void *y)
{
	const operand *a = x, *b = y;
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	if (a->made != b->made)
		return a->made < b->made ? -1 : 1;
	if (a->is != b->is)
		return a->is < b->is ? -1 : 1;
	return a->tensor != b->tensor ? a->tensor - b->tensor
				      : a->slot - b->slot;
}

static operand operand_of(const canon *c, node_id n, int slot)
{
	tensor_id t = c->g->nodes[n].inputs[slot];
	node_id by = c->g->tensors[t].producer;
	return (operand){ .role = c->roles[n][slot], .is = c->of[t],
			  .made = by == NONE ? 0 : c->kernels[by],
			  .tensor = t, .slot = slot };
}

static operand *operands_of(const canon *c, node_id n)
{
	int m = c->g->nodes[n].kernel->ninputs;
	operand *all = ARENA_ARRAY(c->tmp, operand, m);
	for (int i = 0; i < m; i++)
		all[i] = operand_of(c, n, i);
	qsort(all, (size_t)m, sizeof(*all), by_role);
	return all;
}

static void number_node(canon *c, node_id n)
{
	const node *x = &c->g->nodes[n];
	const operand *all = operands_of(c, n);
	for (int i = 0; i < x->kernel->ninputs; i++)
		number_tensor(c, all[i].tensor);
	number_tensor(c, x->output);
	c->nodes[n] = c->nnodes++;
}

/* Numbers a node after everything that it needs. */
static void number_from(canon *c, node_id root)
{
	VEC(visit) open = { 0 };
	if (c->nodes[root] != NONE)
		return;
	vec_push(c->tmp, &open, visit_of(c, root));
	while (open.n > 0) {
		visit *v = &open.at[open.n - 1];
		if (v->at == v->n) {
			if (c->nodes[v->node] == NONE)
				number_node(c, v->node);
			open.n--;
			continue;
		}
		node_id next = v->first[v->at++];
		if (c->nodes[next] == NONE)
			vec_push(c->tmp, &open, visit_of(c, next));
	}
}

/* Numbers all nodes: those that outputs and next values of states need, then
 * the others. */
static void number_all(canon *c)
{
	const graph *g = c->g;
	choice *all = ARENA_ARRAY(c->tmp, choice, g->ntensors);
	int n = 0;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		tensor_id next = g->tensors[t].next;
		if (g->tensors[t].output && g->tensors[t].producer != NONE)
			all[n++] = choice_of(c, t, 0);
		if (next != NONE)
			all[n++] = choice_of(c, next, 0);
	}
	qsort(all, (size_t)n, sizeof(*all), by_merit);
	for (int i = 0; i < n; i++)
		number_from(c, all[i].node);
	for (node_id i = 0; i < g->nnodes; i++)
		number_from(c, i);
	for (tensor_id t = 0; t < g->ntensors; t++)
		number_tensor(c, t);
}

/* ---- the new graph ----------------------------------------------------- */

static int renumbered(const int *number, int old)
{
	return old == NONE ? NONE : number[old];
}

static tensor_id *renumber_all(const canon *c, const tensor_id *from, int n)
{
	tensor_id *to = ARENA_ARRAY(c->a, tensor_id, n + 1);
	for (int i = 0; i < n; i++)
		to[i] = c->tensors[from[i]];
	return to;
}

static bool same_form(const kinput *x, const kinput *y)
{
	bool same = x->type == y->type && x->ndim == y->ndim;
	for (int d = 0; same && d < x->ndim; d++)
		same = x->dims[d] == y->dims[d];
	return same;
}

/* Whether a kernel computes the same, to the last bit, when input from[i] takes
 * the place of input i. */
static bool may_swap(const kernel *k, const int *from)
{
	colour now[MAX_NINPUTS] = { 0 }, then[MAX_NINPUTS] = { 0 };
	if (!k->body || k->nderived > 0)
		return false;
	for (int i = 0; i < k->ninputs; i++) {
		if (!same_form(&k->inputs[i], &k->inputs[from[i]]))
			return false;
		now[i] = (colour)i;
		then[from[i]] = (colour)i;
	}
	return body_colour(k->body, now, true) ==
	       body_colour(k->body, then, true);
}

/* The new numbers of a node's inputs.  Inputs with one role are sorted if the
 * kernel may have them in that order. */
static void sort_inputs(const canon *c, node_id n, tensor_id *inputs)
{
	const node *x = &c->g->nodes[n];
	const operand *all = operands_of(c, n);
	int from[MAX_NINPUTS], m = x->kernel->ninputs;
	for (int i = 0; i < m; i++) {
		/* find the input with the same role and rank as slot i */
		int rank = 0, at = 0;
		for (int j = 0; j < i; j++)
			rank += c->roles[n][j] == c->roles[n][i];
		while (all[at].role != c->roles[n][i])
			at++;
		from[i] = all[at + rank].slot;
	}
	for (int i = 0; i < m; i++)
		inputs[i] = c->tensors[x->inputs[i]];
	if (!may_swap(x->kernel, from))
		return;
	for (int i = 0; i < m; i++)
		inputs[i] = c->tensors[x->inputs[from[i]]];
}

static graph *new_graph(const canon *c)
{
	const graph *g = c->g;
	graph *to = ARENA_NEW(c->a, graph);
	*to = *g;
	to->tensors = ARENA_ARRAY(c->a, tensor, g->ntensors + 1);
	to->nodes = ARENA_ARRAY(c->a, node, g->nnodes + 1);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		tensor *x = &to->tensors[c->tensors[t]];
		*x = g->tensors[t];
		x->producer = renumbered(c->nodes, x->producer);
		x->next = renumbered(c->tensors, x->next);
		x->gradient_of = renumbered(c->tensors, x->gradient_of);
	}
	for (node_id n = 0; n < g->nnodes; n++) {
		node *x = &to->nodes[c->nodes[n]];
		*x = g->nodes[n];
		x->inputs = ARENA_ARRAY(c->a, tensor_id,
					x->kernel->ninputs + 1);
		sort_inputs(c, n, x->inputs);
		x->output = c->tensors[x->output];
		x->forward = renumbered(c->nodes, x->forward);
	}
	to->inputs = renumber_all(c, g->inputs, g->ninputs);
	to->outputs = renumber_all(c, g->outputs, g->noutputs);
	to->loss = renumbered(c->tensors, g->loss);
	to->learning_rate = renumbered(c->tensors, g->learning_rate);
	to->loss_scale = renumbered(c->tensors, g->loss_scale);
	if (g->length > 0)
		to->position = renumbered(c->tensors, g->position);
	return to;
}

static int *none_of(arena *a, int n)
{
	int *all = ARENA_ARRAY(a, int, n);
	for (int i = 0; i < n; i++)
		all[i] = NONE;
	return all;
}

/* Numbers the graph's nodes and tensors.  The numbers are allocated in a. */
static canon number_graph(arena *a, const graph *g)
{
	canon c = { .a = a, .tmp = arena_new(), .g = g };
	c.of = ARENA_ARRAY(c.tmp, colour, g->ntensors);
	c.kernels = ARENA_ARRAY(a, colour, g->nnodes);
	c.roles = ARENA_ARRAY(c.tmp, colour *, g->nnodes);
	c.depth = ARENA_ARRAY(a, int, g->nnodes);
	c.nodes = none_of(a, g->nnodes);
	c.tensors = none_of(a, g->ntensors);
	colour_kernels(&c);
	colour_tensors(&c);
	find_depths(&c);
	number_all(&c);
	return c;
}

graph_numbers graph_canonical_numbers(arena *a, const graph *g)
{
	canon c = number_graph(a, g);
	arena_free(c.tmp);
	return (graph_numbers){ c.nodes, c.tensors, c.depth, c.kernels };
}

graph *graph_canonical(arena *a, const graph *g)
{
	canon c = number_graph(a, g);
	graph *to = new_graph(&c);
	arena_free(c.tmp);
	return to;
}
