#include "config.h"

#include "tests/unit/random_graph.h"

#include <check.h>
#include <string.h>

#include "base/checked.h"
#include "kernel/linearity.h"

/* ---- kernels ----------------------------------------------------------- */

static kernel *kernel_new(arena *a, const char *name, int nout, int nvars,
			  const int64_t *extents, reducer red, dtype type)
{
	static const char *const names[] = { "i", "j", "k", "l" };
	kernel *k = ARENA_NEW(a, kernel);
	k->name = name;
	k->nout = nout;
	k->nvars = nvars;
	k->vars = ARENA_ARRAY(a, kvar, nvars);
	k->reducer = red;
	k->type = type;
	k->inputs = ARENA_ARRAY(a, kinput, MAX_NINPUTS);
	for (int v = 0; v < nvars; v++)
		k->vars[v] = (kvar){ .name = names[v],
				     .kind = v < nout ? KVAR_OUTPUT
						      : KVAR_REDUCE,
				     .extent = extents[v] };
	return k;
}

static int add_input(kernel *k, const tensor *t)
{
	kinput *in = &k->inputs[k->ninputs];
	in->name = t->name;
	in->type = t->type.type;
	in->ndim = t->type.ndim;
	memcpy(in->dims, t->type.dims, sizeof(in->dims));
	return k->ninputs++;
}

static kexpr *read1(arena *a, const kernel *k, int input, kexpr *i)
{
	return kx_read(a, input, k->inputs[input].type, 1, &i, NULL);
}

static kexpr *read2(arena *a, const kernel *k, int input, kexpr *i, kexpr *j,
		    kexpr *otherwise)
{
	kexpr *at[] = { i, j };
	return kx_read(a, input, k->inputs[input].type, 2, at, otherwise);
}

static kexpr *num(arena *a, double f)
{
	return kx_float(a, f, DT_F32);
}

static kexpr *ix(arena *a, int64_t i)
{
	return kx_int(a, i, DT_I64);
}

/* Keeps values small: the remainder by 7. */
static kexpr *small(arena *a, kexpr *e)
{
	return kx_fn2(a, FN_FMOD, e, num(a, 7));
}

/* ---- graphs ------------------------------------------------------------ */

enum { MOST_TENSORS = 200 };

typedef struct maker {
	arena *a;
	rng *r;
	graph *g;
	bool once; /* each tensor is read by one node */
	bool states;
	bool *used;
	bool *large; /* by tensor: its values are not small */
} maker;

static tensor_id add_tensor(maker *m, tensor_kind kind, dtype type, int ndim,
			    const int64_t *dims)
{
	graph *g = m->g;
	ck_assert_int_lt(g->ntensors, MOST_TENSORS);
	tensor *t = &g->tensors[g->ntensors];
	t->name = arena_printf(m->a, "t%d", g->ntensors);
	t->kind = kind;
	t->type.type = type;
	t->type.ndim = ndim;
	if (ndim > 0)
		memcpy(t->type.dims, dims, (size_t)ndim * sizeof(*dims));
	t->producer = t->next = NONE;
	if (kind == TENSOR_INPUT)
		g->inputs[g->ninputs++] = g->ntensors;
	if (kind == TENSOR_CONSTANT || kind == TENSOR_STATE) {
		int64_t n = 1;
		ck_assert(ck_product(dims, ndim, &n));
		float *data = ARENA_ARRAY(m->a, float, n);
		for (int64_t i = 0; i < n; i++)
			data[i] = (float)(rng_below(m->r, 9) - 4);
		t->constant.data = data;
	}
	return g->ntensors++;
}

static int64_t extent(maker *m)
{
	return 2 + rng_below(m->r, 9);
}

static tensor_kind source_kind(maker *m)
{
	if (rng_below(m->r, 3))
		return m->states && rng_below(m->r, 2) ? TENSOR_STATE
						       : TENSOR_INPUT;
	return TENSOR_CONSTANT;
}

/* Some f32 tensor of two dimensions; fixed[d] is its extent where > 0. */
static tensor_id pick(maker *m, int64_t rows, int64_t columns)
{
	const graph *g = m->g;
	for (int tries = 0; tries < 8 && g->ntensors > 0; tries++) {
		tensor_id t = rng_below(m->r, g->ntensors);
		const tensor_type *x = &g->tensors[t].type;
		if (x->type != DT_F32 || x->ndim != 2 ||
		    (rows > 0 && x->dims[0] != rows) ||
		    (columns > 0 && x->dims[1] != columns) ||
		    (m->once && m->used[t]) || m->large[t])
			continue;
		m->used[t] = true;
		return t;
	}
	int64_t dims[] = { rows > 0 ? rows : extent(m),
			   columns > 0 ? columns : extent(m) };
	tensor_id t = add_tensor(m, source_kind(m), DT_F32, 2, dims);
	m->used[t] = true;
	return t;
}

static tensor_id add_node(maker *m, kernel *k, const tensor_id *inputs)
{
	graph *g = m->g;
	int64_t dims[MAX_NDIM];
	kernel_derive(m->a, k);
	kernel_finish(m->a, k);
	for (int d = 0; d < k->nout; d++)
		dims[d] = kernel_dim(k, d);
	node *n = &g->nodes[g->nnodes];
	n->output = add_tensor(m, TENSOR_RESULT, k->type, k->nout, dims);
	n->name = arena_printf(m->a, "%s_%d", k->name, g->nnodes);
	n->op = k->name;
	n->kernel = k;
	n->inputs = ARENA_COPY(m->a, inputs, k->ninputs);
	g->tensors[n->output].producer = g->nnodes++;
	return n->output;
}

static const int64_t *dims_of(const maker *m, tensor_id t)
{
	return m->g->tensors[t].type.dims;
}

static void add_sum(maker *m)
{
	arena *a = m->a;
	tensor_id x = pick(m, 0, 0);
	const int64_t *d = dims_of(m, x);
	tensor_id y = pick(m, d[0], d[1]);
	kernel *k = kernel_new(a, "add", 2, 2, d, RED_NONE, DT_F32);
	add_input(k, &m->g->tensors[x]);
	add_input(k, &m->g->tensors[y]);
	kexpr *i = kx_var(a, 0), *j = kx_var(a, 1);
	k->body = small(a, kx_fn2(a, FN_ADD, read2(a, k, 0, i, j, NULL),
				  read2(a, k, 1, i, j, NULL)));
	add_node(m, k, (tensor_id[]){ x, y });
}

static void add_unary(maker *m)
{
	arena *a = m->a;
	tensor_id x = pick(m, 0, 0);
	kernel *k = kernel_new(a, "relu", 2, 2, dims_of(m, x), RED_NONE,
			       DT_F32);
	add_input(k, &m->g->tensors[x]);
	k->body = kx_fn2(a, FN_MAX,
			 read2(a, k, 0, kx_var(a, 0), kx_var(a, 1), NULL),
			 num(a, -1));
	add_node(m, k, &x);
}

/* A tensor reduced to small numbers again. */
static void add_small(maker *m, tensor_id x)
{
	arena *a = m->a;
	m->used[x] = true;
	kernel *k = kernel_new(a, "small", 2, 2, dims_of(m, x), RED_NONE,
			       DT_F32);
	add_input(k, &m->g->tensors[x]);
	k->body = small(a, read2(a, k, 0, kx_var(a, 0), kx_var(a, 1), NULL));
	add_node(m, k, &x);
}

static tensor_id add_product(maker *m, tensor_id x, tensor_id y)
{
	arena *a = m->a;
	int64_t d[] = { dims_of(m, x)[0], dims_of(m, y)[1],
			dims_of(m, x)[1] };
	kernel *k = kernel_new(a, "matmul", 2, 3, d, RED_SUM, DT_F32);
	add_input(k, &m->g->tensors[x]);
	add_input(k, &m->g->tensors[y]);
	kexpr *i = kx_var(a, 0), *j = kx_var(a, 1), *v = kx_var(a, 2);
	k->body = kx_fn2(a, FN_MUL, read2(a, k, 0, i, v, NULL),
			 read2(a, k, 1, v, j, NULL));
	return add_node(m, k, (tensor_id[]){ x, y });
}

static void add_matmul_of(maker *m, tensor_id x, tensor_id y)
{
	add_small(m, add_product(m, x, y));
}

static void add_matmul(maker *m)
{
	tensor_id x = pick(m, 0, 0);
	add_matmul_of(m, x, pick(m, dims_of(m, x)[1], 0));
}

/* A stencil: neighbours along the second dimension, 0 outside. */
static void add_stencil(maker *m)
{
	arena *a = m->a;
	tensor_id x = pick(m, 0, 0);
	kernel *k = kernel_new(a, "stencil", 2, 2, dims_of(m, x), RED_NONE,
			       DT_F32);
	add_input(k, &m->g->tensors[x]);
	kexpr *i = kx_var(a, 0), *j = kx_var(a, 1);
	int64_t reach = 1 + rng_below(m->r, 2);
	kexpr *l = kx_fn2(a, FN_SUB, j, ix(a, reach));
	kexpr *r = kx_fn2(a, FN_ADD, j, ix(a, 1));
	k->body = kx_fn2(a, FN_SUB, read2(a, k, 0, i, l, num(a, 0)),
			 read2(a, k, 0, i, r, num(a, 1)));
	k->body = small(a, k->body);
	add_node(m, k, &x);
}

static void add_transpose(maker *m, bool flip)
{
	arena *a = m->a;
	tensor_id x = pick(m, 0, 0);
	const int64_t *from = dims_of(m, x);
	int64_t d[] = { from[1], from[0] };
	kernel *k = kernel_new(a, "transpose", 2, 2, d, RED_NONE, DT_F32);
	add_input(k, &m->g->tensors[x]);
	kexpr *i = kx_var(a, 1), *j = kx_var(a, 0);
	if (flip)
		j = kx_fn2(a, FN_SUB, ix(a, from[1] - 1), j);
	k->body = read2(a, k, 0, i, j, NULL);
	add_node(m, k, &x);
}

/* Row maxima, spread over the rows again. */
static void add_rows(maker *m, reducer red)
{
	arena *a = m->a;
	tensor_id x = pick(m, 0, 0);
	const int64_t *d = dims_of(m, x);
	kernel *k = kernel_new(a, "rows", 1, 2, d, red, DT_F32);
	add_input(k, &m->g->tensors[x]);
	k->body = read2(a, k, 0, kx_var(a, 0), kx_var(a, 1), NULL);
	tensor_id s = add_node(m, k, &x);
	int64_t wide[] = { d[0], extent(m) };
	k = kernel_new(a, "spread", 2, 2, wide, RED_NONE, DT_F32);
	add_input(k, &m->g->tensors[s]);
	m->used[s] = true;
	k->body = small(a, kx_fn2(a, FN_ADD, read1(a, k, 0, kx_var(a, 0)),
				  kx_cast(a, kx_var(a, 1), DT_F32)));
	add_node(m, k, &s);
}

/* The sum of all, a tensor of no dimensions. */
static void add_total(maker *m)
{
	arena *a = m->a;
	tensor_id x = pick(m, 0, 0);
	kernel *k = kernel_new(a, "total", 0, 2, dims_of(m, x), RED_SUM,
			       DT_F32);
	add_input(k, &m->g->tensors[x]);
	k->body = read2(a, k, 0, kx_var(a, 0), kx_var(a, 1), NULL);
	add_node(m, k, &x);
}

/* table[ids[i], j]: its rows are a derived variable. */
static void add_lookup(maker *m)
{
	arena *a = m->a;
	tensor_id x = pick(m, 0, 0);
	int64_t n = extent(m);
	tensor_id ids = add_tensor(m, TENSOR_INPUT, DT_I64, 1, &n);
	int64_t d[] = { n, dims_of(m, x)[1] };
	kernel *k = kernel_new(a, "lookup", 2, 2, d, RED_NONE, DT_F32);
	add_input(k, &m->g->tensors[x]);
	add_input(k, &m->g->tensors[ids]);
	m->used[ids] = true;
	kexpr *row = read1(a, k, 1, kx_var(a, 0));
	k->body = read2(a, k, 0, row, kx_var(a, 1), NULL);
	add_node(m, k, (tensor_id[]){ x, ids });
}

/* scale * v + shift: what v is read at, of n elements, in either direction
 * and by steps; the last element first, now and then. */
static kexpr *affine(maker *m, int v, int64_t n)
{
	arena *a = m->a;
	bool reversed = rng_below(m->r, 3) == 0;
	int64_t scale = reversed ? -1 : rng_below(m->r, 7) - 3;
	int64_t shift = reversed ? n - 1 : rng_below(m->r, (int)n + 2) - 1;
	kexpr *x = kx_fn2(a, FN_MUL, ix(a, scale), kx_var(a, v));
	return kx_fn2(a, FN_ADD, x, ix(a, shift));
}

/* x at indices of the form above, 0 outside; then, so that both may become one
 * kernel, this less x or less another tensor. */
static void add_affine(maker *m)
{
	arena *a = m->a;
	tensor_id x = pick(m, 0, 0);
	const int64_t *d = dims_of(m, x);
	kernel *k = kernel_new(a, "affine", 2, 2, d, RED_NONE, DT_F32);
	add_input(k, &m->g->tensors[x]);
	kexpr *i = affine(m, 0, d[0]);
	kexpr *j = affine(m, 1, d[1]);
	k->body = read2(a, k, 0, i, j, num(a, 0));
	tensor_id made = add_node(m, k, &x);
	m->used[made] = true;
	tensor_id y = m->once || rng_below(m->r, 3) == 0 ?
		pick(m, d[0], d[1]) : x;
	k = kernel_new(a, "less", 2, 2, d, RED_NONE, DT_F32);
	add_input(k, &m->g->tensors[made]);
	add_input(k, &m->g->tensors[y]);
	i = kx_var(a, 0);
	j = kx_var(a, 1);
	k->body = small(a, kx_fn2(a, FN_SUB, read2(a, k, 0, i, j, NULL),
				  read2(a, k, 1, i, j, NULL)));
	add_node(m, k, (tensor_id[]){ made, y });
}

static void add_any(maker *m)
{
	switch (rng_below(m->r, 12)) {
	case 0:
		add_sum(m);
		break;
	case 1:
		add_matmul(m);
		break;
	case 2:
		add_stencil(m);
		break;
	case 3:
		add_transpose(m, rng_below(m->r, 2));
		break;
	case 4:
		add_rows(m, RED_MAX);
		break;
	case 5:
		add_rows(m, RED_SUM);
		break;
	case 6:
		add_total(m);
		break;
	case 7:
		add_lookup(m);
		break;
	case 8:
	case 9:
		add_affine(m);
		break;
	default:
		add_unary(m);
		break;
	}
}

static maker maker_new(arena *a, rng *r, bool once)
{
	graph *g = ARENA_NEW(a, graph);
	g->name = "random";
	g->tensors = ARENA_ARRAY(a, tensor, MOST_TENSORS);
	g->nodes = ARENA_ARRAY(a, node, MOST_TENSORS);
	g->inputs = ARENA_ARRAY(a, tensor_id, MOST_TENSORS);
	g->outputs = ARENA_ARRAY(a, tensor_id, MOST_TENSORS);
	return (maker){ .a = a, .r = r, .g = g, .once = once,
			.used = ARENA_ARRAY(a, bool, MOST_TENSORS),
			.large = ARENA_ARRAY(a, bool, MOST_TENSORS) };
}

static void add_output(graph *g, tensor_id t)
{
	g->tensors[t].output = true;
	g->outputs[g->noutputs++] = t;
}

/* The outputs are the tensors that are not used and some of the others; none of
 * the kept. */
static void add_outputs(maker *m, const bool *kept)
{
	graph *g = m->g;
	for (int i = 0; i < g->nnodes; i++)
		for (int j = 0; j < g->nodes[i].kernel->ninputs; j++)
			m->used[g->nodes[i].inputs[j]] = true;
	for (tensor_id t = 0; t < g->ntensors; t++)
		if ((!m->used[t] || rng_below(m->r, 8) == 0) &&
		    !(kept && (kept[t] || g->tensors[t].next != NONE)))
			add_output(g, t);
}

static graph *make(arena *a, rng *r, int nnodes, bool once)
{
	maker m = maker_new(a, r, once);
	while (m.g->nnodes < nnodes)
		add_any(&m);
	add_outputs(&m, NULL);
	return m.g;
}

/* The sum of a product and of other tensors, which may be that product or one
 * sum of them already, reduced to small numbers at the end. */
static void add_terms(maker *m)
{
	arena *a = m->a;
	tensor_id x = pick(m, 0, 0), y = pick(m, dims_of(m, x)[1], 0);
	tensor_id sum = add_product(m, x, y);
	m->large[sum] = true;
	for (int i = 1 + rng_below(m->r, 3); i > 0; i--) {
		const int64_t *d = dims_of(m, sum);
		tensor_id in[] = { sum, pick(m, d[0], d[1]) };
		kernel *k = kernel_new(a, "plus", 2, 2, d, RED_NONE, DT_F32);
		kexpr *v = kx_var(a, 0), *w = kx_var(a, 1);
		if (rng_below(m->r, 8) == 0)
			in[1] = sum;
		add_input(k, &m->g->tensors[in[0]]);
		add_input(k, &m->g->tensors[in[1]]);
		k->body = kx_fn2(a, rng_below(m->r, 4) ? FN_ADD : FN_SUB,
				 read2(a, k, 0, v, w, NULL),
				 read2(a, k, 1, v, w, NULL));
		m->used[sum] = true;
		sum = add_node(m, k, in);
		m->large[sum] = true;
	}
	add_small(m, sum);
}

graph *random_sums(arena *a, rng *r, int nnodes)
{
	maker m = maker_new(a, r, false);
	while (m.g->nnodes < nnodes) {
		add_terms(&m);
		add_any(&m);
	}
	add_outputs(&m, NULL);
	return m.g;
}

/* ---- states ------------------------------------------------------------ */

/* A tensor of the state's shape, itself where no other is found. */
static tensor_id same_shape(maker *m, tensor_id s)
{
	const graph *g = m->g;
	const tensor_type *want = &g->tensors[s].type;
	for (int tries = 0; tries < 8; tries++) {
		tensor_id t = rng_below(m->r, g->ntensors);
		const tensor_type *x = &g->tensors[t].type;
		if (x->type == DT_F32 && x->ndim == 2 &&
		    x->dims[0] == want->dims[0] && x->dims[1] == want->dims[1])
			return t;
	}
	return s;
}

/* s - rate * x, which may overwrite s. */
static tensor_id add_update(maker *m, tensor_id s, tensor_id x)
{
	arena *a = m->a;
	kernel *k = kernel_new(a, "update", 2, 2, dims_of(m, s), RED_NONE,
			       DT_F32);
	tensor_id in[] = { s, x, m->g->learning_rate };
	kexpr *i = kx_var(a, 0), *j = kx_var(a, 1);
	for (int n = 0; n < 3; n++)
		add_input(k, &m->g->tensors[in[n]]);
	kexpr *rate = kx_read(a, 2, DT_F32, 0, NULL, NULL);
	kexpr *step = kx_fn2(a, FN_MUL, rate, read2(a, k, 1, i, j, NULL));
	k->body = small(a, kx_fn2(a, FN_SUB, read2(a, k, 0, i, j, NULL),
				  step));
	return add_node(m, k, in);
}

static tensor_id add_copy(maker *m, tensor_id x)
{
	arena *a = m->a;
	kernel *k = kernel_new(a, "copy", 2, 2, dims_of(m, x), RED_NONE,
			       DT_F32);
	add_input(k, &m->g->tensors[x]);
	k->body = read2(a, k, 0, kx_var(a, 0), kx_var(a, 1), NULL);
	return add_node(m, k, &x);
}

static void set_next(maker *m, tensor_id s, bool *taken)
{
	graph *g = m->g;
	tensor_id x = same_shape(m, s), next = NONE;
	switch (rng_below(m->r, 6)) {
	case 0:
		next = add_copy(m, x);
		break;
	case 1:
	case 2:
		if (g->tensors[x].kind == TENSOR_RESULT && !taken[x])
			next = x;
		break;
	default:
		next = add_update(m, s, x);
		break;
	}
	g->tensors[s].next = next;
	if (next != NONE)
		taken[next] = m->used[next] = true;
}

graph *random_training(arena *a, rng *r, int nnodes)
{
	static const float one = 1;
	maker m = maker_new(a, r, false);
	graph *g = m.g;
	constant *rate = ARENA_NEW(a, constant);
	bool *taken = ARENA_ARRAY(a, bool, MOST_TENSORS);
	m.states = true;
	g->training = true;
	g->loss = g->loss_scale = NONE;
	g->learning_rate = add_tensor(&m, TENSOR_INPUT, DT_F32, 0, NULL);
	*rate = (constant){ .data = &one };
	g->tensors[g->learning_rate].value = rate;
	int64_t dims[] = { extent(&m), extent(&m) };
	for (int i = rng_below(r, 3); i >= 0; i--)
		add_tensor(&m, TENSOR_STATE, DT_F32, 2, dims);
	while (g->nnodes < nnodes)
		add_any(&m);
	for (tensor_id t = 0, n = g->ntensors; t < n; t++)
		if (g->tensors[t].kind == TENSOR_STATE)
			set_next(&m, t, taken);
	add_outputs(&m, taken);
	return g;
}

graph *matmul_graph(arena *a, int64_t rows, int64_t inner, int64_t columns)
{
	rng r = rng_new(1);
	maker m = maker_new(a, &r, true);
	int64_t x[] = { rows, inner }, y[] = { inner, columns };
	add_tensor(&m, TENSOR_INPUT, DT_F32, 2, x);
	add_tensor(&m, TENSOR_CONSTANT, DT_F32, 2, y);
	add_matmul_of(&m, 0, 1);
	add_output(m.g, m.g->ntensors - 1);
	return m.g;
}

graph *random_graph(arena *a, rng *r, int nnodes)
{
	return make(a, r, nnodes, false);
}

graph *random_chain(arena *a, rng *r, int nnodes)
{
	return make(a, r, nnodes, true);
}
