/* Adds the totals over turns.  A tensor that is combined over the turns is
 * copied after the last one.  A turn's own value is brought to the scale of the
 * whole batch, or to the turn's share of it. */
#include "config.h"

#include "compiler/graph/turns.h"

#include <string.h>

#include "compiler/graph/builder.h"

typedef struct adder {
	arena *a, *tmp;
	const graph *from;
	graph *g; /* the new graph */
	const graph_turns *t;
	const turns_own *own;
	/* By tensor of `from', NONE where there is none: sum, its total over
	 * turns; made, its value in a turn as its node computes it; read, its
	 * value as nodes of the turn read it, the same as made unless
	 * scaled. */
	tensor_id *sum, *made, *read;
	/* samples of the turn; NONE: the same number in all turns */
	tensor_id samples;
	int *placed;	   /* by node of `from': its new number */
	/* As in the new graph_turns. */
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

bool *turns_kept(arena *a, const graph *g, const section *sections)
{
	bool *behind = ARENA_ARRAY(a, bool, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		behind[t] |= g->tensors[t].output;
		if (g->tensors[t].next != NONE)
			behind[g->tensors[t].next] = true;
	}
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
			if (sections[n] == SECTION_AFTER)
				behind[g->nodes[n].inputs[i]] = true;
	return behind;
}

/* k, or an equal kernel made before. */
static const kernel *share_kernel(adder *x, const kernel *k)
{
	for (int i = 0; i < x->kernels.n; i++)
		if (kernel_equal(x->kernels.at[i], k))
			return x->kernels.at[i];
	vec_push(x->tmp, &x->kernels, k);
	return k;
}

static const kernel *copy_of(adder *x, const tensor_type *t)
{
	return share_kernel(x, build_copy_kernel(x->a, t));
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

/* ---- values of a turn's own ---------------------------------------------- */

/* The quotient of two numbers of samples; 0 stands for the turn's number. */
static kexpr *quotient(adder *x, double over, double under, dtype type)
{
	kexpr *n = NULL;
	if (x->samples == NONE)
		return kx_float(x->a, over > 0 ? x->t->turns
					       : 1.0 / x->t->turns, type);
	n = kx_read(x->a, 1, DT_F64, 0, NULL, NULL);
	n = kx_fn2(x->a, FN_DIV, over > 0 ? kx_float(x->a, over, DT_F64) : n,
		   under > 0 ? kx_float(x->a, under, DT_F64) : n);
	return type == DT_F64 ? n : kx_cast(x->a, n, type);
}

/* A kernel that multiplies a tensor by B/b (up) or by b/B. */
static const kernel *scaling(adder *x, const tensor_type *t, bool up)
{
	kernel *k = ARENA_COPY(x->a, build_copy_kernel(x->a, t), 1);
	double all = (double)x->t->batch;
	k->name = up ? "estimate" : "share";
	if (x->samples != NONE) {
		k->ninputs = 2;
		k->inputs = ARENA_ARRAY(x->a, kinput, 2);
		k->inputs[0] = (kinput){ .name = "x", .type = t->type,
					 .ndim = t->ndim };
		memcpy(k->inputs[0].dims, t->dims, sizeof(t->dims));
		k->inputs[1] = (kinput){ .name = "samples", .type = DT_F64 };
	}
	k->body = kx_fn2(x->a, FN_MUL, k->body,
			 up ? quotient(x, all, 0, t->type)
			    : quotient(x, 0, all, t->type));
	kernel_finish(x->a, k);
	return share_kernel(x, k);
}

static void add_scaled(adder *x, const node *of, tensor_id from, tensor_id to,
		       bool up)
{
	const tensor *made = &x->g->tensors[to];
	node n = *of;
	n.kernel = scaling(x, &made->type, up);
	n.op = n.kernel->name;
	n.name = turns_name(x->a, x->taken, made->name, n.op);
	n.inputs = ARENA_ARRAY(x->a, tensor_id, 2);
	n.inputs[0] = from;
	n.inputs[1] = x->samples;
	n.output = to;
	add_node(x, &n, SECTION_BODY, NONE);
}

/* Adds a node that counts the samples of the turn. */
static void add_samples(adder *x)
{
	kernel *k = ARENA_NEW(x->a, kernel);
	*k = (kernel){ .name = "samples", .nvars = 1, .type = DT_F64,
		       .reducer = RED_SUM };
	k->vars = ARENA_NEW(x->a, kvar);
	k->vars[0] = (kvar){ .name = "n", .kind = KVAR_REDUCE,
			     .extent = x->t->batch };
	k->body = kx_float(x->a, 1, DT_F64);
	kernel_finish(x->a, k);
	tensor_id id = x->samples = x->g->ntensors++;
	x->g->tensors[id] = (tensor){
		.name = turns_name(x->a, x->taken, "turn", "samples"),
		.kind = TENSOR_RESULT,
		.type = { .type = DT_F64 },
		.next = NONE,
		.gradient_of = NONE,
	};
	x->cut[id] = x->total[id] = NONE;
	x->partial[id] = RED_SUM;
	const node n = { .name = turns_name(x->a, x->taken, "turn", "count"),
			 .op = "samples", .kernel = k, .output = id,
			 .forward = NONE, .step = -1, .cell = -1 };
	add_node(x, &n, SECTION_BODY, 0);
}

/* ---- nodes ------------------------------------------------------------- */

/* Whether a node of the turn passes on partial results. */
static bool hands_on(const adder *x, node_id id)
{
	tensor_id t = x->from->nodes[id].output;
	return x->t->divided[id] == NONE && x->t->partial[t] != RED_NONE;
}

static void place_node(adder *x, node_id id)
{
	node n = x->from->nodes[id];
	tensor_id t = n.output;
	const tensor_id *read = hands_on(x, id) ? x->made : x->read;
	n.inputs = ARENA_COPY(x->a, n.inputs, n.kernel->ninputs);
	for (int i = 0; i < n.kernel->ninputs; i++)
		if (x->t->sections[id] == SECTION_BODY)
			n.inputs[i] = read[n.inputs[i]];
	n.output = x->made[t];
	x->placed[id] = x->g->nnodes;
	add_node(x, &n, x->t->sections[id], x->t->divided[id]);
	if (x->read[t] != x->made[t])
		add_scaled(x, &n, x->made[t], x->read[t], true);
	if (x->sum[t] != NONE && x->sum[t] != x->made[t])
		add_scaled(x, &n, x->made[t], x->sum[t], false);
	if (x->sum[t] != NONE)
		add_copy(x, &n, t);
}

/* Renumbers the links to forward nodes once all nodes are placed.  A backward
 * node may precede its forward node if it does not read the result, such as the
 * loss. */
static void renumber_forward(const adder *x)
{
	for (node_id i = 0; i < x->g->nnodes; i++) {
		node_id *forward = &x->g->nodes[i].forward;
		if (*forward != NONE)
			*forward = x->placed[*forward];
	}
}

/* Adds a tensor like t for the turn. */
static tensor_id add_like(adder *x, tensor_id t, const char *what, reducer r)
{
	tensor_id id = x->g->ntensors++;
	tensor *to = &x->g->tensors[id];
	*to = x->g->tensors[t];
	to->name = turns_name(x->a, x->taken, to->name, what);
	to->output = false;
	x->cut[id] = x->total[id] = NONE;
	x->partial[id] = r;
	return id;
}

/* Adds the tensors that stand for t in a turn. */
static void add_values(adder *x, tensor_id t, bool kept)
{
	reducer r = x->t->partial[t];
	x->sum[t] = NONE;
	x->made[t] = x->read[t] = t;
	if (kept && x->own->derived[t]) {
		x->made[t] = x->read[t] = add_like(x, t, "own", RED_NONE);
		x->sum[t] = add_like(x, t, "turns", RED_SUM);
	} else if (kept && r != RED_NONE) {
		x->sum[t] = x->made[t] = x->read[t] =
			add_like(x, t, "turns", r);
	}
	if (x->own->partial[t] && r == RED_SUM)
		x->read[t] = add_like(x, t, "estimate", RED_NONE);
	if (x->sum[t] != NONE) {
		x->total[x->sum[t]] = t;
		x->partial[t] = RED_NONE;
	}
}

static void copy_tables(adder *x)
{
	const graph *from = x->from;
	for (tensor_id t = 0; t < from->ntensors; t++) {
		x->g->tensors[t] = from->tensors[t];
		x->cut[t] = x->t->cut[t];
		x->partial[t] = x->t->partial[t];
		x->total[t] = NONE;
		strmap_put(x->taken, from->tensors[t].name, x);
	}
	for (node_id n = 0; n < from->nnodes; n++)
		strmap_put(x->taken, from->nodes[n].name, x);
}

/* Makes room for two more tensors and nodes for each existing one, and one
 * more. */
static void make_room(adder *x)
{
	int ntensors = 3 * x->from->ntensors + 1;
	int nnodes = x->from->nnodes + 2 * x->from->ntensors + 1;
	arena *a = x->a, *tmp = x->tmp;
	x->g->tensors = ARENA_ARRAY(a, tensor, ntensors);
	x->g->nodes = ARENA_ARRAY(a, node, nnodes);
	x->g->nnodes = 0;
	x->cut = ARENA_ARRAY(a, int, ntensors);
	x->partial = ARENA_ARRAY(a, reducer, ntensors);
	x->total = ARENA_ARRAY(a, tensor_id, ntensors);
	x->divided = ARENA_ARRAY(a, int, nnodes);
	x->sections = ARENA_ARRAY(a, section, nnodes);
	x->sum = ARENA_ARRAY(tmp, tensor_id, x->from->ntensors);
	x->made = ARENA_ARRAY(tmp, tensor_id, x->from->ntensors);
	x->read = ARENA_ARRAY(tmp, tensor_id, x->from->ntensors);
	x->placed = ARENA_ARRAY(tmp, int, x->from->nnodes);
	x->taken = strmap_new(tmp);
}

void turns_add_totals(arena *a, graph *g, graph_turns *to,
		      const turns_own *own)
{
	const graph from = *g;
	adder x = { .a = a, .tmp = arena_new(), .from = &from, .g = g,
		    .t = to, .own = own, .samples = NONE };
	const bool *kept = turns_kept(x.tmp, g, to->sections);
	make_room(&x);
	copy_tables(&x);
	to->statistics = false;
	for (tensor_id t = 0; t < from.ntensors; t++) {
		add_values(&x, t, kept[t]);
		to->statistics |= own->partial[t];
	}
	if (to->statistics && to->batch % to->turns != 0)
		add_samples(&x);
	for (node_id i = 0; i < from.nnodes; i++)
		place_node(&x, i);
	renumber_forward(&x);
	to->cut = x.cut;
	to->partial = x.partial;
	to->total = x.total;
	to->divided = x.divided;
	to->sections = x.sections;
	arena_free(x.tmp);
}
