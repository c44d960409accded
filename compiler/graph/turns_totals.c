/* Tensors that are combined over time are copied behind the last turn. */
#include "config.h"

#include "compiler/graph/turns.h"

#include "compiler/graph/builder.h"

typedef struct adder {
	arena *a, *tmp;
	const graph *from;
	graph *g; /* as it becomes */
	const graph_turns *t;
	tensor_id *sum; /* by tensor of `from': what the turns add up for it,
			   NONE */
	int *placed;	/* by node of `from' */
	/* Of the new graph_turns. */
	int *cut, *divided;
	reducer *partial;
	tensor_id *total;
	section *sections;
	VEC(const kernel *) kernels;
	strmap *taken;
} adder;

const char *turns_name(arena *a, strmap *taken, const char *of,
		       const char *what)
{
	const char *name = arena_printf(a, "%s.%s", of, what);
	for (int i = 2; strmap_get(taken, name); i++)
		name = arena_printf(a, "%s.%s%d", of, what, i);
	strmap_put(taken, name, taken);
	return name;
}

/* By tensor: whether its parts are needed together. */
static bool *find_combined(arena *a, const graph *g, const graph_turns *x)
{
	bool *behind = ARENA_ARRAY(a, bool, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		behind[t] |= g->tensors[t].output;
		if (g->tensors[t].next != NONE)
			behind[g->tensors[t].next] = true;
	}
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
			if (x->sections[n] == SECTION_AFTER)
				behind[g->nodes[n].inputs[i]] = true;
	for (tensor_id t = 0; t < g->ntensors; t++)
		behind[t] = behind[t] && x->partial[t] != RED_NONE;
	return behind;
}

/* A kernel that copies a tensor of a type, one for all that are alike. */
static const kernel *copy_of(adder *x, const tensor_type *t)
{
	kernel *k = build_copy_kernel(x->a, t);
	for (int i = 0; i < x->kernels.n; i++)
		if (kernel_equal(x->kernels.at[i], k))
			return x->kernels.at[i];
	vec_push(x->tmp, &x->kernels, k);
	return k;
}

static void add_node(adder *x, const node *n, section s, int divided)
{
	graph *g = x->g;
	x->sections[g->nnodes] = s;
	x->divided[g->nnodes] = divided;
	g->tensors[n->output].producer = g->nnodes;
	g->nodes[g->nnodes++] = *n;
}

static void add_copy(adder *x, const node *of, tensor_id t)
{
	const tensor *made = &x->g->tensors[t];
	node n = *of;
	n.name = turns_name(x->a, x->taken, made->name, "total");
	n.op = "copy";
	n.kernel = copy_of(x, &made->type);
	n.inputs = ARENA_NEW(x->a, tensor_id);
	n.inputs[0] = x->sum[t];
	n.output = t;
	add_node(x, &n, SECTION_AFTER, NONE);
}

static void place_node(adder *x, node_id id)
{
	node n = x->from->nodes[id];
	tensor_id t = n.output;
	n.inputs = ARENA_COPY(x->a, n.inputs, n.kernel->ninputs);
	for (int i = 0; i < n.kernel->ninputs; i++)
		if (x->t->sections[id] == SECTION_BODY &&
		    x->sum[n.inputs[i]] != NONE)
			n.inputs[i] = x->sum[n.inputs[i]];
	if (x->sum[t] != NONE)
		n.output = x->sum[t];
	if (n.forward != NONE)
		n.forward = x->placed[n.forward];
	x->placed[id] = x->g->nnodes;
	add_node(x, &n, x->t->sections[id], x->t->divided[id]);
	if (x->sum[t] != NONE)
		add_copy(x, &n, t);
}

/* The tensor that the turns add up for t. */
static void add_sum(adder *x, tensor_id t)
{
	tensor_id id = x->sum[t] = x->g->ntensors++;
	tensor *to = &x->g->tensors[id];
	*to = x->g->tensors[t];
	to->name = turns_name(x->a, x->taken, to->name, "turns");
	to->output = false;
	x->cut[id] = NONE;
	x->partial[id] = x->partial[t];
	x->partial[t] = RED_NONE;
	x->total[id] = t;
}

static void begin(adder *x, int nmore)
{
	const graph *from = x->from;
	int ntensors = from->ntensors + nmore, nnodes = from->nnodes + nmore;
	x->g->tensors = ARENA_ARRAY(x->a, tensor, ntensors);
	x->g->nodes = ARENA_ARRAY(x->a, node, nnodes);
	x->g->nnodes = 0;
	x->cut = ARENA_ARRAY(x->a, int, ntensors);
	x->partial = ARENA_ARRAY(x->a, reducer, ntensors);
	x->total = ARENA_ARRAY(x->a, tensor_id, ntensors);
	x->divided = ARENA_ARRAY(x->a, int, nnodes);
	x->sections = ARENA_ARRAY(x->a, section, nnodes);
	x->sum = ARENA_ARRAY(x->tmp, tensor_id, from->ntensors);
	x->placed = ARENA_ARRAY(x->tmp, int, from->nnodes);
	x->taken = strmap_new(x->tmp);
	for (tensor_id t = 0; t < from->ntensors; t++) {
		x->g->tensors[t] = from->tensors[t];
		x->cut[t] = x->t->cut[t];
		x->partial[t] = x->t->partial[t];
		x->total[t] = x->sum[t] = NONE;
		strmap_put(x->taken, from->tensors[t].name, x);
	}
	for (node_id n = 0; n < from->nnodes; n++)
		strmap_put(x->taken, from->nodes[n].name, x);
}

void turns_add_totals(arena *a, graph *g, graph_turns *to)
{
	const graph from = *g;
	adder x = { .a = a, .tmp = arena_new(), .from = &from, .g = g,
		    .t = to };
	const bool *combined = find_combined(x.tmp, g, to);
	int n = 0;
	for (tensor_id t = 0; t < from.ntensors; t++)
		n += combined[t];
	begin(&x, n);
	for (tensor_id t = 0; t < from.ntensors; t++)
		if (combined[t])
			add_sum(&x, t);
	for (node_id i = 0; i < from.nnodes; i++)
		place_node(&x, i);
	to->cut = x.cut;
	to->partial = x.partial;
	to->total = x.total;
	to->divided = x.divided;
	to->sections = x.sections;
	arena_free(x.tmp);
}
