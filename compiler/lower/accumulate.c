#include "config.h"

#include "compiler/lower/accumulate.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "layout/layout.h"

typedef struct summer {
	arena *a, *tmp;
	graph *g; /* the new graph */
	assignment *as;
	int *cut, *then, *divided; /* of its graph_turns, or as in the header */
	reducer *partial;
	section *sections;
	/* By accumulated tensor, NONE for others: a turn's part, the sum, and
	 * the sum's value before the first turn. */
	tensor_id *part, *sum, *zero;
	VEC(const kernel *) kernels;
	strmap *names;
} summer;

/* ---- kernels ----------------------------------------------------------- */

static kernel *element_wise(summer *x, const char *name, const tensor_type *t)
{
	kernel *k = ARENA_NEW(x->a, kernel);
	*k = (kernel){ .name = name,
		       .nvars = t->ndim,
		       .nout = t->ndim,
		       .type = t->type };
	k->vars = ARENA_ARRAY(x->a, kvar, t->ndim);
	for (int d = 0; d < t->ndim; d++)
		k->vars[d] = (kvar){ .name = arena_printf(x->a, "i%d", d),
				     .kind = KVAR_OUTPUT,
				     .extent = t->dims[d] };
	return k;
}

/* k, or an equal kernel made before. */
static const kernel *share(summer *x, kernel *k)
{
	kernel_finish(x->a, k);
	for (int i = 0; i < x->kernels.n; i++)
		if (kernel_equal(x->kernels.at[i], k))
			return x->kernels.at[i];
	vec_push(x->tmp, &x->kernels, k);
	return k;
}

/* Makes a kernel give one partial result for each of n groups: it reduces an
 * added variable of extent n, of which each group has one value.  For n = 1 no
 * variable is added. */
static void reduce_groups(summer *x, kernel *k, reducer r, int64_t n)
{
	if (n == 1)
		return;
	kvar *vars = ARENA_ARRAY(x->a, kvar, k->nvars + 1);
	memcpy(vars, k->vars, (size_t)k->nvars * sizeof(*vars));
	vars[k->nvars++] = (kvar){ .name = "group",
				   .kind = KVAR_REDUCE,
				   .extent = n };
	k->vars = vars;
	k->reducer = r;
}

/* A kernel that gives the neutral element everywhere, as a partial result of
 * each of the groups. */
static const kernel *neutral_of(summer *x, const tensor_type *t, reducer r,
				int64_t groups)
{
	kernel *k = element_wise(x, "fill", t);
	reducer_neutral n = reducer_table[r].neutral;
	double v = n == NEUTRAL_ZERO	? 0
		   : n == NEUTRAL_ONE	? 1
		   : n == NEUTRAL_LEAST ? -INFINITY
					: INFINITY;
	k->body = dtype_is_float(t->type) ? kx_float(x->a, v, t->type)
					  : kx_int(x->a, (int64_t)v, t->type);
	reduce_groups(x, k, r, groups);
	return share(x, k);
}

static const kernel *sum_of(summer *x, const tensor_type *t, reducer r)
{
	kernel *k = element_wise(x, "accumulate", t);
	kexpr *at[MAX_NDIM];
	k->ninputs = 2;
	k->inputs = ARENA_ARRAY(x->a, kinput, 2);
	for (int d = 0; d < t->ndim; d++)
		at[d] = kx_var(x->a, d);
	for (int i = 0; i < 2; i++) {
		kinput *in = &k->inputs[i];
		*in = (kinput){ .name = i ? "part" : "sum",
				.type = t->type,
				.ndim = t->ndim };
		memcpy(in->dims, t->dims, sizeof(in->dims));
	}
	k->body = kx_fn2(x->a, reducer_table[r].combine,
			 kx_read(x->a, 0, t->type, t->ndim, at, NULL),
			 kx_read(x->a, 1, t->type, t->ndim, at, NULL));
	return share(x, k);
}

/* ---- the graph --------------------------------------------------------- */

/* Adds a result with the type and cuts of t that the model does not have. */
static tensor_id add_tensor(summer *x, tensor_id t, const char *what)
{
	graph *g = x->g;
	tensor_id id = g->ntensors++;
	tensor *to = &g->tensors[id];
	*to = g->tensors[t];
	to->name = turns_name(x->a, x->names, to->name, what);
	to->output = false;
	x->as->tensor_cuts[id] = x->as->tensor_cuts[t];
	x->cut[id] = x->then[id] = NONE;
	x->partial[id] = RED_NONE;
	return id;
}

static void add_node(summer *x, const node *n, section s, int divided,
		     const cuts *c)
{
	graph *g = x->g;
	g->nodes[g->nnodes] = *n;
	g->tensors[n->output].producer = g->nnodes;
	x->sections[g->nnodes] = s;
	x->divided[g->nnodes] = divided;
	x->as->node_cuts[g->nnodes++] = *c;
}

/* Adds a node divided as its result is stored.  `partial' is its division on
 * axes along which the result is partial. */
static void add_own(summer *x, const kernel *k, tensor_id out, section s,
		    tensor_id *inputs, int partial)
{
	node n = { .name = turns_name(x->a, x->names, x->g->tensors[out].name,
				     k->name),
		   .op = k->name,
		   .kernel = k,
		   .inputs = inputs,
		   .output = out,
		   .forward = NONE,
		   .step = -1,
		   .cell = -1 };
	cuts c = x->as->tensor_cuts[out];
	for (int a = 0; a < x->as->mesh.naxes; a++)
		if (c.dim[a] < CUT_NONE)
			c.dim[a] = (signed char)partial;
	add_node(x, &n, s, NONE, &c);
}

/* The passing by which a sum passes on both of its partial inputs; it exists
 * for any reducer that combines it. */
static signed char pass_both(const kernel *k, reducer r)
{
	for (int i = 0; i < k->npassings; i++)
		if (k->passings[i].inputs == 3 && k->passings[i].by == r &&
		    k->passings[i].to == r)
			return cut_passing(i);
	return CUT_NONE;
}

/* The tensor that accumulates t: its copy if the copy is laid out like t,
 * otherwise t itself. */
static tensor_id sum_for(const summer *x, const graph *g, tensor_id t)
{
	tensor_id total = g->turns->total[t];
	const cuts *held = x->as->tensor_cuts;
	for (int a = 0; a < x->as->mesh.naxes; a++)
		if (held[t].dim[a] != held[total].dim[a])
			return t;
	return total;
}

/* Adds the tensors of a sum, and the node that computes its first value. */
static void begin_sum(summer *x, const graph *g, tensor_id t)
{
	tensor *made = &x->g->tensors[t];
	tensor_id sum = x->sum[t] = sum_for(x, g, t);
	reducer r = x->partial[t];
	x->zero[t] = add_tensor(x, sum, "zero");
	if (sum == t) {
		x->part[t] = add_tensor(x, t, "part");
	} else {
		x->part[t] = t;
		made->name = turns_name(x->a, x->names,
					g->tensors[sum].name, "part");
	}
	x->partial[x->part[t]] = x->partial[sum] = r;
	x->then[x->zero[t]] = sum;
	uint32_t axes = cuts_partial(&x->as->tensor_cuts[t],
				     x->as->mesh.naxes);
	add_own(x, neutral_of(x, &made->type, r,
			      layout_sharers(&x->as->mesh, axes)),
		x->zero[t], SECTION_BEFORE, NULL, made->type.ndim);
}

/* Whether a node would copy a sum to the tensor that is now the sum itself. */
static bool is_gone(const summer *x, const node *n)
{
	return n->kernel->ninputs == 1 && x->sum[n->inputs[0]] == n->output;
}

static void copy_node(summer *x, const graph *from, const assignment *as,
		      node_id id)
{
	const graph_turns *t = from->turns;
	node n = from->nodes[id];
	tensor_id out = n.output, part = x->part[out];
	tensor_id *inputs = ARENA_COPY(x->a, n.inputs, n.kernel->ninputs);
	if (is_gone(x, &n))
		return;
	for (int i = 0; i < n.kernel->ninputs; i++)
		if (t->sections[id] == SECTION_BODY &&
		    x->part[inputs[i]] != NONE)
			inputs[i] = x->part[inputs[i]];
	n.inputs = inputs;
	n.output = part != NONE ? part : out;
	add_node(x, &n, t->sections[id], t->divided[id], &as->node_cuts[id]);
	if (part == NONE)
		return;
	inputs = ARENA_ARRAY(x->a, tensor_id, 2);
	inputs[0] = x->zero[out];
	inputs[1] = part;
	const kernel *sum = sum_of(x, &from->tensors[out].type,
				   t->partial[out]);
	add_own(x, sum, x->sum[out], SECTION_BODY, inputs,
		pass_both(sum, t->partial[out]));
}

/* Makes room for two more tensors and two more nodes for each of n. */
static void make_room(summer *x, const graph *g, assignment *as, int n)
{
	int ntensors = g->ntensors + 2 * n, nnodes = g->nnodes + 2 * n;
	arena *a = x->a;
	x->g = ARENA_COPY(a, g, 1);
	x->g->tensors = ARENA_ARRAY(a, tensor, ntensors);
	x->g->nodes = ARENA_ARRAY(a, node, nnodes);
	x->g->nnodes = 0;
	x->as = as;
	x->cut = ARENA_ARRAY(a, int, ntensors);
	x->then = ARENA_ARRAY(a, int, ntensors);
	x->part = ARENA_ARRAY(x->tmp, tensor_id, g->ntensors);
	x->sum = ARENA_ARRAY(x->tmp, tensor_id, g->ntensors);
	x->zero = ARENA_ARRAY(x->tmp, tensor_id, g->ntensors);
	x->partial = ARENA_ARRAY(a, reducer, ntensors);
	x->divided = ARENA_ARRAY(a, int, nnodes);
	x->sections = ARENA_ARRAY(a, section, nnodes);
	cuts *held = ARENA_ARRAY(a, cuts, ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		x->g->tensors[t] = g->tensors[t];
		x->cut[t] = g->turns->cut[t];
		x->partial[t] = g->turns->partial[t];
		x->then[t] = x->part[t] = x->sum[t] = x->zero[t] = NONE;
		held[t] = as->tensor_cuts[t];
		strmap_put(x->names, g->tensors[t].name, x);
	}
	for (node_id i = 0; i < g->nnodes; i++)
		strmap_put(x->names, g->nodes[i].name, x);
	*as = (assignment){ as->mesh, held, ARENA_ARRAY(a, cuts, nnodes) };
}

const graph *accumulate_turns(arena *a, const graph *g, assignment *as,
			      const int **then)
{
	summer x = { .a = a, .tmp = arena_new() };
	const assignment before = *as;
	x.names = strmap_new(x.tmp);
	const tensor_id *total = g->turns->total;
	int n = 0;
	for (tensor_id t = 0; t < g->ntensors; t++)
		n += total[t] != NONE;
	make_room(&x, g, as, n);
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (total[t] != NONE)
			begin_sum(&x, g, t);
	for (section s = SECTION_BEFORE; s <= SECTION_AFTER; s++)
		for (node_id i = 0; i < g->nnodes; i++)
			if (g->turns->sections[i] == s)
				copy_node(&x, g, &before, i);
	graph_turns *t = ARENA_COPY(a, g->turns, 1);
	t->cut = x.cut;
	t->partial = x.partial;
	t->divided = x.divided;
	t->sections = x.sections;
	x.g->turns = t;
	*then = x.then;
	arena_free(x.tmp);
	return x.g;
}
