#include "config.h"

#include "tests/unit/ladder.h"

#include <string.h>

#include "base/vec.h"

typedef struct maker {
	arena *a;
	VEC(tensor) tensors;
	VEC(node) nodes;
	const kernel *last[16]; /* kernels are shared by the nodes */
	int nkernels;
} maker;

/* ---- kernels ----------------------------------------------------------- */

/* A kernel of n inputs of f32; its body is still missing. */
static kernel *kernel_of(maker *m, const char *name, int nout, int nvars,
			 const int64_t *extents, int ninputs,
			 const tensor_id *inputs)
{
	static const char *const names[] = { "i", "j", "k" };
	arena *a = m->a;
	kernel *k = ARENA_NEW(a, kernel);
	*k = (kernel){ .name = name, .nout = nout, .nvars = nvars,
		       .type = DT_F32, .ninputs = ninputs };
	k->reducer = nvars > nout ? RED_SUM : RED_NONE;
	k->vars = ARENA_ARRAY(a, kvar, nvars);
	k->inputs = ARENA_ARRAY(a, kinput, ninputs);
	for (int v = 0; v < nvars; v++)
		k->vars[v] = (kvar){ .name = names[v],
				     .kind = v < nout ? KVAR_OUTPUT
						      : KVAR_REDUCE,
				     .extent = extents[v] };
	for (int i = 0; i < ninputs; i++) {
		const tensor *t = &m->tensors.at[inputs[i]];
		k->inputs[i] = (kinput){ .name = t->name, .type = DT_F32,
					 .ndim = t->type.ndim };
		memcpy(k->inputs[i].dims, t->type.dims,
		       sizeof(k->inputs[i].dims));
	}
	return k;
}

static kexpr *read_at(arena *a, int input, int i, int j)
{
	kexpr *at[] = { kx_var(a, i), kx_var(a, j) };
	return kx_read(a, input, DT_F32, 2, at, NULL);
}

static kexpr *scalar_at(arena *a, int input)
{
	return kx_read(a, input, DT_F32, 0, NULL, NULL);
}

static const kernel *share(maker *m, kernel *k)
{
	for (int i = 0; i < m->nkernels; i++)
		if (kernel_equal(m->last[i], k))
			return m->last[i];
	kernel_finish(m->a, k);
	return m->last[m->nkernels++] = k;
}

/* ---- tensors and nodes ------------------------------------------------- */

static tensor_id add_tensor(maker *m, tensor_kind kind, int ndim, int64_t n0,
			    int64_t n1)
{
	static const float one = 1;
	tensor t = { .kind = kind, .producer = NONE, .next = NONE,
		     .name = arena_printf(m->a, "t%d", m->tensors.n),
		     .constant = { .data = &one, .fill = true } };
	t.type = (tensor_type){ .type = DT_F32, .ndim = ndim,
				.dims = { n0, n1 } };
	vec_push(m->a, &m->tensors, t);
	return m->tensors.n - 1;
}

static tensor_id add_node(maker *m, kernel *k, kexpr *body,
			  const tensor_id *inputs)
{
	node n = { .name = arena_printf(m->a, "n%d", m->nodes.n),
		   .op = k->name, .forward = NONE, .step = -1, .cell = -1 };
	k->body = body;
	n.kernel = share(m, k);
	n.inputs = ARENA_COPY(m->a, inputs, k->ninputs);
	n.output = add_tensor(m, TENSOR_RESULT, k->nout,
			      k->nout > 0 ? k->vars[0].extent : 0,
			      k->nout > 1 ? k->vars[1].extent : 0);
	m->tensors.at[n.output].producer = m->nodes.n;
	vec_push(m->a, &m->nodes, n);
	return n.output;
}

static const int64_t *dims(const maker *m, tensor_id t)
{
	return m->tensors.at[t].type.dims;
}

/* x . y, one of them transposed where asked for. */
static tensor_id add_matmul(maker *m, tensor_id x, bool tx, tensor_id y,
			    bool ty)
{
	const tensor_id in[] = { x, y };
	int64_t n[] = { dims(m, x)[tx], dims(m, y)[!ty], dims(m, x)[!tx] };
	kernel *k = kernel_of(m, "matmul", 2, 3, n, 2, in);
	kexpr *l = tx ? read_at(m->a, 0, 2, 0) : read_at(m->a, 0, 0, 2);
	kexpr *r = ty ? read_at(m->a, 1, 1, 2) : read_at(m->a, 1, 2, 1);
	return add_node(m, k, kx_fn2(m->a, FN_MUL, l, r), in);
}

/* max(x, 0) */
static tensor_id add_relu(maker *m, tensor_id x)
{
	kernel *k = kernel_of(m, "relu", 2, 2, dims(m, x), 1, &x);
	return add_node(m, k,
			kx_fn2(m->a, FN_MAX, read_at(m->a, 0, 0, 1),
			       kx_float(m->a, 0, DT_F32)),
			&x);
}

/* dy where y > 0, else 0 */
static tensor_id add_relu_gradient(maker *m, tensor_id dy, tensor_id y)
{
	const tensor_id in[] = { dy, y };
	arena *a = m->a;
	kernel *k = kernel_of(m, "drelu", 2, 2, dims(m, y), 2, in);
	kexpr *zero = kx_float(a, 0, DT_F32);
	kexpr *on = kx_fn2(a, FN_LT, zero, read_at(a, 1, 0, 1));
	return add_node(m, k, kx_select(a, on, read_at(a, 0, 0, 1), zero), in);
}

static tensor_id add_sum(maker *m, tensor_id x, tensor_id y)
{
	const tensor_id in[] = { x, y };
	kernel *k = kernel_of(m, "add", 2, 2, dims(m, x), 2, in);
	return add_node(m, k,
			kx_fn2(m->a, FN_ADD, read_at(m->a, 0, 0, 1),
			       read_at(m->a, 1, 0, 1)),
			in);
}

/* The sum of x, or of its squares, and `more` unless that is NONE. */
static tensor_id add_total(maker *m, tensor_id x, bool squares, tensor_id more)
{
	arena *a = m->a;
	kernel *k = kernel_of(m, "total", 0, 2, dims(m, x), 1, &x);
	kexpr *e = read_at(a, 0, 0, 1);
	tensor_id s = add_node(m, k, squares ? kx_fn2(a, FN_MUL, e, e) : e, &x);
	if (more == NONE)
		return s;
	const tensor_id in[] = { s, more };
	k = kernel_of(m, "more", 0, 0, NULL, 2, in);
	return add_node(m, k,
			kx_fn2(a, FN_ADD, scalar_at(a, 0), scalar_at(a, 1)),
			in);
}

static tensor_id add_ones(maker *m, tensor_id like)
{
	kernel *k = kernel_of(m, "ones", 2, 2, dims(m, like), 0, NULL);
	return add_node(m, k, kx_float(m->a, 1, DT_F32), NULL);
}

/* w - rate * dw, divided by a norm unless that is NONE. */
static void add_update(maker *m, tensor_id w, tensor_id dw, tensor_id rate,
		       tensor_id norm)
{
	arena *a = m->a;
	const tensor_id in[] = { w, dw, rate, norm };
	kernel *k = kernel_of(m, "update", 2, 2, dims(m, w),
			      norm == NONE ? 3 : 4, in);
	kexpr *step = kx_fn2(a, FN_MUL, scalar_at(a, 2),
			     read_at(a, 1, 0, 1));
	if (norm != NONE)
		step = kx_fn2(a, FN_DIV, step, scalar_at(a, 3));
	tensor_id next = add_node(m, k,
				  kx_fn2(a, FN_SUB, read_at(a, 0, 0, 1), step),
				  in);
	m->tensors.at[w].next = next;
}

/* ---- the graph --------------------------------------------------------- */

static graph *finish(maker *m, tensor_id x, tensor_id rate, tensor_id loss)
{
	graph *g = ARENA_NEW(m->a, graph);
	*g = (graph){ .name = "ladder", .ntensors = m->tensors.n,
		      .nnodes = m->nodes.n, .tensors = m->tensors.at,
		      .nodes = m->nodes.at, .ninputs = 2, .noutputs = 1,
		      .training = true, .loss = loss, .learning_rate = rate,
		      .loss_scale = NONE };
	const tensor_id inputs[] = { x, rate };
	g->inputs = ARENA_COPY(m->a, inputs, 2);
	g->outputs = ARENA_COPY(m->a, &loss, 1);
	g->tensors[loss].output = true;
	return g;
}

graph *ladder_graph(arena *a, const ladder *l)
{
	maker m = { .a = a };
	tensor_id *h = ARENA_ARRAY(a, tensor_id, l->layers + 1);
	tensor_id *w = ARENA_ARRAY(a, tensor_id, l->layers);
	tensor_id *dw = ARENA_ARRAY(a, tensor_id, l->layers);
	tensor_id x = h[0] = add_tensor(&m, TENSOR_INPUT, 2, l->batch,
					l->width);
	tensor_id rate = add_tensor(&m, TENSOR_INPUT, 0, 0, 0), norm = NONE;
	int n = l->shared ? 1 : l->layers;
	for (int i = 0; i < l->layers; i++) {
		w[i] = i < n ? add_tensor(&m, TENSOR_STATE, 2, l->width,
					  l->width)
			     : w[0];
		h[i + 1] = add_relu(&m, add_matmul(&m, h[i], false, w[i],
						   false));
	}
	tensor_id loss = add_total(&m, h[l->layers], false, NONE);
	tensor_id dh = add_ones(&m, h[l->layers]);
	for (int i = l->layers - 1; i >= 0; i--) {
		tensor_id dz = add_relu_gradient(&m, dh, h[i + 1]);
		dw[i] = add_matmul(&m, h[i], true, dz, false);
		if (i + 1 < l->layers && l->shared)
			dw[i] = add_sum(&m, dw[i + 1], dw[i]);
		if (i > 0)
			dh = add_matmul(&m, dz, false, w[i], true);
	}
	for (int i = 0; i < n && l->clipped; i++)
		norm = add_total(&m, dw[i], true, norm);
	for (int i = 0; i < n; i++)
		add_update(&m, w[i], dw[i], rate, norm);
	return finish(&m, x, rate, loss);
}

/* ---- layouts ----------------------------------------------------------- */

/* The variable that runs over the batch, or else the first: what all kernels
 * here can be divided by. */
static int variable(const graph *g, const node *n, int64_t batch)
{
	(void)g;
	for (int v = 0; v < n->kernel->nvars; v++)
		if (n->kernel->vars[v].extent == batch)
			return v;
	return n->kernel->nvars > 0 ? 0 : CUT_NONE;
}

assignment ladder_assignment(arena *a, const graph *g, const mesh *m)
{
	assignment as = { .mesh = *m };
	int64_t batch = g->tensors[g->inputs[0]].type.dims[0];
	as.tensor_cuts = ARENA_ARRAY(a, cuts, g->ntensors);
	as.node_cuts = ARENA_ARRAY(a, cuts, g->nnodes);
	for (int t = 0; t < g->ntensors; t++) {
		as.tensor_cuts[t] = cuts_none();
		for (int i = 0; i < m->naxes; i++)
			if (g->tensors[t].type.ndim > 0)
				as.tensor_cuts[t].dim[i] = 0;
	}
	for (int n = 0; n < g->nnodes; n++) {
		int v = variable(g, &g->nodes[n], batch);
		as.node_cuts[n] = cuts_none();
		for (int i = 0; i < m->naxes; i++)
			as.node_cuts[n].dim[i] = (signed char)v;
	}
	return as;
}
