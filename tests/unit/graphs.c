#include "config.h"

#include "tests/unit/graphs.h"

/* ---- graphs ------------------------------------------------------------ */

tensor_id add_tensor(graph_maker *m, tensor_kind kind, dtype t, int ndim,
		     const int64_t *dims)
{
	tensor x = { .kind = kind, .producer = NONE, .next = NONE,
		     .gradient_of = NONE };
	x.name = arena_printf(m->a, "t%d", m->tensors.n);
	x.type.type = t;
	x.type.ndim = ndim;
	for (int d = 0; d < ndim; d++)
		x.type.dims[d] = dims[d];
	vec_push(m->a, &m->tensors, x);
	return m->tensors.n - 1;
}

tensor_id weight(graph_maker *m, int64_t rows, int64_t columns)
{
	const int64_t dims[] = { rows, columns };
	tensor_id t = add_tensor(m, TENSOR_CONSTANT, DT_F32, 2, dims);
	m->tensors.at[t].parameter = true;
	return t;
}

tensor_id add_node(graph_maker *m, const kernel *k, const tensor_id *inputs)
{
	for (int n = 0; n < m->nodes.n; n++)
		if (kernel_equal(m->nodes.at[n].kernel, k))
			k = m->nodes.at[n].kernel;
	int64_t dims[MAX_NDIM];
	for (int d = 0; d < k->nout; d++)
		dims[d] = kernel_dim(k, d);
	tensor_id t = add_tensor(m, TENSOR_RESULT, k->type, k->nout, dims);
	m->tensors.at[t].producer = m->nodes.n;
	node n = { .name = arena_printf(m->a, "n%d", m->nodes.n),
		   .op = k->name, .kernel = k, .output = t,
		   .inputs = ARENA_COPY(m->a, inputs, k->ninputs),
		   .forward = NONE, .step = -1, .cell = -1 };
	vec_push(m->a, &m->nodes, n);
	return t;
}

graph *make_graph(graph_maker *m)
{
	graph *g = ARENA_NEW(m->a, graph);
	g->name = "test";
	g->ntensors = m->tensors.n;
	g->tensors = m->tensors.at;
	g->nnodes = m->nodes.n;
	g->nodes = m->nodes.at;
	return g;
}

/* ---- kernels ----------------------------------------------------------- */

static kernel *begin(arena *a, const char *name, dtype t, int ninputs)
{
	kernel *k = ARENA_NEW(a, kernel);
	k->name = name;
	k->type = t;
	k->ninputs = ninputs;
	k->inputs = ARENA_ARRAY(a, kinput, ninputs);
	k->vars = ARENA_ARRAY(a, kvar, MAX_NVARS);
	return k;
}

static void add_var(kernel *k, const char *name, kvar_kind kind, int64_t n)
{
	k->vars[k->nvars++] = (kvar){ name, kind, n, NULL };
	k->nout += kind == KVAR_OUTPUT;
}

static void set_input(kernel *k, int i, dtype t, int ndim, const int64_t *dims)
{
	k->inputs[i] = (kinput){ .name = "x", .type = t, .ndim = ndim };
	for (int d = 0; d < ndim; d++)
		k->inputs[i].dims[d] = dims[d];
}

static kexpr *read_at(arena *a, const kernel *k, int i, kexpr **index)
{
	return kx_read(a, i, k->inputs[i].type, k->inputs[i].ndim, index,
		       NULL);
}

static kernel *end(arena *a, kernel *k, kexpr *body)
{
	k->body = body;
	kernel_finish(a, k);
	return k;
}

kernel *kernel_matmul(arena *a, int64_t i, int64_t j, int64_t k, bool square)
{
	kernel *m = begin(a, "matmul", DT_F32, 2);
	add_var(m, "i", KVAR_OUTPUT, i);
	add_var(m, "j", KVAR_OUTPUT, j);
	add_var(m, "k", KVAR_REDUCE, k);
	m->reducer = RED_SUM;
	set_input(m, 0, DT_F32, 2, (int64_t[]){ i, k });
	if (square)
		set_input(m, 1, DT_F32, 2, (int64_t[]){ j, k });
	else
		set_input(m, 1, DT_F32, 2, (int64_t[]){ k, j });
	kexpr *v[] = { kx_var(a, 0), kx_var(a, 1), kx_var(a, 2) };
	kexpr *x = read_at(a, m, 0, (kexpr *[]){ v[0], v[2] });
	kexpr *y = square ? read_at(a, m, 1, (kexpr *[]){ v[1], v[2] }) :
			    read_at(a, m, 1, (kexpr *[]){ v[2], v[1] });
	return end(a, m, kx_fn2(a, FN_MUL, x, y));
}

kernel *kernel_conv(arena *a, const int64_t *data, const int64_t *filter,
		    int64_t stride, int64_t pad)
{
	kernel *k = begin(a, "conv", DT_F32, 2);
	add_var(k, "n", KVAR_OUTPUT, data[0]);
	add_var(k, "o", KVAR_OUTPUT, filter[0]);
	add_var(k, "x", KVAR_OUTPUT,
		(data[2] + 2 * pad - filter[2]) / stride + 1);
	add_var(k, "c", KVAR_REDUCE, data[1]);
	add_var(k, "r", KVAR_REDUCE, filter[2]);
	k->reducer = RED_SUM;
	set_input(k, 0, DT_F32, 3, data);
	set_input(k, 1, DT_F32, 3, filter);
	kexpr *v[5];
	for (int i = 0; i < 5; i++)
		v[i] = kx_var(a, i);
	kexpr *at = kx_fn2(a, FN_MUL, kx_int(a, stride, DT_I64), v[2]);
	at = kx_fn2(a, FN_ADD, at, v[4]);
	at = kx_fn2(a, FN_SUB, at, kx_int(a, pad, DT_I64));
	kexpr *x = kx_read(a, 0, DT_F32, 3, (kexpr *[]){ v[0], v[3], at },
			   pad ? kx_float(a, 0, DT_F32) : NULL);
	kexpr *w = read_at(a, k, 1, (kexpr *[]){ v[1], v[3], v[4] });
	return end(a, k, kx_fn2(a, FN_MUL, x, w));
}

static void vars_of(arena *a, kernel *k, int ndim, const int64_t *dims,
		    kexpr **v)
{
	for (int d = 0; d < ndim; d++) {
		add_var(k, arena_printf(a, "d%d", d), KVAR_OUTPUT, dims[d]);
		v[d] = kx_var(a, d);
	}
}

kernel *kernel_add(arena *a, int ndim, const int64_t *dims, uint32_t ones)
{
	kernel *k = begin(a, "add", DT_F32, 2);
	kexpr *v[MAX_NDIM], *w[MAX_NDIM];
	int64_t second[MAX_NDIM];
	vars_of(a, k, ndim, dims, v);
	for (int d = 0; d < ndim; d++) {
		bool one = ones >> d & 1;
		second[d] = one ? 1 : dims[d];
		w[d] = one ? kx_int(a, 0, DT_I64) : v[d];
	}
	set_input(k, 0, DT_F32, ndim, dims);
	set_input(k, 1, DT_F32, ndim, second);
	return end(a, k, kx_fn2(a, FN_ADD, read_at(a, k, 0, v),
				read_at(a, k, 1, w)));
}

kernel *kernel_to(arena *a, int ndim, const int64_t *dims, dtype to)
{
	kernel *k = begin(a, "cast", to, 1);
	kexpr *v[MAX_NDIM];
	vars_of(a, k, ndim, dims, v);
	set_input(k, 0, DT_F32, ndim, dims);
	return end(a, k, kx_cast(a, read_at(a, k, 0, v), to));
}

kernel *kernel_transpose(arena *a, int ndim, const int64_t *dims)
{
	kernel *k = begin(a, "transpose", DT_F32, 1);
	kexpr *v[MAX_NDIM], *w[MAX_NDIM];
	int64_t out[MAX_NDIM] = { 0 };
	for (int d = 0; d < ndim; d++)
		out[d] = dims[ndim - 1 - d];
	vars_of(a, k, ndim, out, v);
	for (int d = 0; d < ndim; d++)
		w[d] = v[ndim - 1 - d];
	set_input(k, 0, DT_F32, ndim, dims);
	return end(a, k, read_at(a, k, 0, w));
}

kernel *kernel_reduce(arena *a, int ndim, const int64_t *dims, int dim,
		      reducer r)
{
	kernel *k = begin(a, "reduce", DT_F32, 1);
	kexpr *v[MAX_NDIM];
	int64_t out[MAX_NDIM] = { 0 };
	int n = 0;
	for (int d = 0; d < ndim; d++)
		if (d != dim)
			out[n++] = dims[d];
	vars_of(a, k, n, out, v);
	add_var(k, "r", KVAR_REDUCE, dims[dim]);
	k->reducer = r;
	for (int d = ndim - 1; d > dim; d--)
		v[d] = v[d - 1];
	v[dim] = kx_var(a, n);
	set_input(k, 0, DT_F32, ndim, dims);
	return end(a, k, read_at(a, k, 0, v));
}

kernel *kernel_gather(arena *a, int64_t b, int64_t vocabulary, int64_t width)
{
	kernel *k = begin(a, "gather", DT_F32, 2);
	add_var(k, "b", KVAR_OUTPUT, b);
	add_var(k, "j", KVAR_OUTPUT, width);
	add_var(k, "v", KVAR_DERIVED, vocabulary);
	k->nderived = 1;
	k->derived = ARENA_NEW(a, kderived);
	*k->derived = (kderived){ .var = 2, .input = 0, .dim = 0 };
	set_input(k, 0, DT_F32, 2, (int64_t[]){ vocabulary, width });
	set_input(k, 1, DT_I64, 1, &b);
	kexpr *id = read_at(a, k, 1, (kexpr *[]){ kx_var(a, 0) });
	return end(a, k, read_at(a, k, 0, (kexpr *[]){ id, kx_var(a, 1) }));
}

kernel *kernel_reshape(arena *a, int ndim, const int64_t *dims, int new_ndim,
		       const int64_t *new_dims)
{
	kernel *k = begin(a, "reshape", DT_F32, 1);
	kexpr *v[MAX_NDIM], *w[MAX_NDIM], *flat = kx_int(a, 0, DT_I64);
	int64_t stride = 1;
	vars_of(a, k, new_ndim, new_dims, v);
	for (int d = 0; d < new_ndim; d++) {
		kexpr *n = kx_int(a, new_dims[d], DT_I64);
		flat = kx_fn2(a, FN_ADD, kx_fn2(a, FN_MUL, flat, n), v[d]);
	}
	for (int d = ndim - 1; d >= 0; d--) {
		w[d] = kx_fn2(a, FN_DIV, flat, kx_int(a, stride, DT_I64));
		w[d] = kx_fn2(a, FN_MOD, w[d], kx_int(a, dims[d], DT_I64));
		stride *= dims[d];
	}
	set_input(k, 0, DT_F32, ndim, dims);
	return end(a, k, read_at(a, k, 0, w));
}

kernel *kernel_affine(arena *a, int ndim, const int64_t *dims,
		      const int64_t *scale, const int64_t *shift)
{
	kernel *k = begin(a, "affine", DT_F32, 2);
	kexpr *v[MAX_NDIM], *w[MAX_NDIM];
	vars_of(a, k, ndim, dims, v);
	for (int d = 0; d < ndim; d++) {
		w[d] = kx_fn2(a, FN_MUL, kx_int(a, scale[d], DT_I64), v[d]);
		w[d] = kx_fn2(a, FN_ADD, w[d], kx_int(a, shift[d], DT_I64));
	}
	set_input(k, 0, DT_F32, ndim, dims);
	set_input(k, 1, DT_F32, ndim, dims);
	kexpr *x = kx_read(a, 0, DT_F32, ndim, w, kx_float(a, 0, DT_F32));
	return end(a, k, kx_fn2(a, FN_SUB, x, read_at(a, k, 1, v)));
}

/* ---- random graphs ----------------------------------------------------- */

/* Indices in either direction and by steps; the last element first, now and
 * then. */
static kernel *random_affine(arena *a, rng *r, int ndim, const int64_t *dims)
{
	int64_t scale[MAX_NDIM], shift[MAX_NDIM];
	for (int d = 0; d < ndim; d++) {
		bool reversed = chance(r, 40);
		scale[d] = reversed ? -1 : pick(r, -3, 3);
		shift[d] = reversed ? dims[d] - 1 : pick(r, -1, (int)dims[d]);
	}
	return kernel_affine(a, ndim, dims, scale, shift);
}

static int64_t extent(const graph_maker *m, rng *r)
{
	static const int64_t some[] = { 1, 2, 3, 4, 5, 7, 8 };
	return m->nextents ? m->extents[pick(r, 0, m->nextents - 1)] :
			     some[pick(r, 0, 6)];
}

/* A tensor of f32 with so many dimensions that is there, or a new one. */
static tensor_id any_tensor(graph_maker *m, rng *r, int ndim)
{
	int64_t dims[3];
	for (int tries = 0; tries < 6 && m->tensors.n; tries++) {
		tensor_id t = pick(r, 0, m->tensors.n - 1);
		const tensor_type *type = &m->tensors.at[t].type;
		if (type->ndim == ndim && type->type == DT_F32)
			return t;
	}
	for (int d = 0; d < ndim; d++)
		dims[d] = extent(m, r);
	return add_tensor(m, chance(r, 50) ? TENSOR_INPUT : TENSOR_CONSTANT,
			  DT_F32, ndim, dims);
}

/* One with this type that is there, or a new one. */
static tensor_id like(graph_maker *m, rng *r, const kinput *in)
{
	for (tensor_id t = 0; t < m->tensors.n && chance(r, 80); t++) {
		const tensor_type *type = &m->tensors.at[t].type;
		bool same = type->type == in->type && type->ndim == in->ndim;
		for (int d = 0; same && d < in->ndim; d++)
			same = type->dims[d] == in->dims[d];
		if (same)
			return t;
	}
	return add_tensor(m, TENSOR_CONSTANT, in->type, in->ndim, in->dims);
}

static kernel *random_conv(const graph_maker *m, rng *r, const int64_t *data)
{
	int64_t taps = pick(r, 1, 3), pad = pick(r, 0, 1);
	if (taps > data[2])
		taps = data[2];
	int64_t filter[] = { extent(m, r), data[1], taps };
	return kernel_conv(m->a, data, filter, pick(r, 1, 2), pad);
}

/* A kernel that takes a tensor like x first. */
static kernel *any_kernel(const graph_maker *m, rng *r, const tensor_type *x)
{
	arena *a = m->a;
	int what = pick(r, 0, 11);
	int64_t flat = 1;
	for (int d = 0; d < x->ndim; d++)
		flat *= x->dims[d];
	if (x->ndim == 2 && what < 3)
		return kernel_matmul(a, x->dims[0], extent(m, r), x->dims[1],
				     false);
	if (x->ndim == 2 && what == 3)
		return kernel_matmul(a, x->dims[0], x->dims[0], x->dims[1],
				     true);
	if (x->ndim == 3 && what < 4 && flat)
		return random_conv(m, r, x->dims);
	if (x->ndim == 2 && what == 4)
		return kernel_gather(a, extent(m, r), x->dims[0], x->dims[1]);
	if (x->ndim && what < 6)
		return kernel_reduce(a, x->ndim, x->dims,
				     pick(r, 0, x->ndim - 1),
				     chance(r, 50) ? RED_SUM : RED_MAX);
	if (x->ndim && what == 6)
		return kernel_transpose(a, x->ndim, x->dims);
	if (x->ndim && what == 7 && flat && flat <= 64)
		return kernel_reshape(a, x->ndim, x->dims, 1, &flat);
	if (what == 8)
		return kernel_to(a, x->ndim, x->dims,
				 chance(r, 50) ? DT_F64 : DT_I8);
	if (what > 9)
		return random_affine(a, r, x->ndim, x->dims);
	return kernel_add(a, x->ndim, x->dims, (uint32_t)pick(r, 0, 7));
}

graph *random_graph(arena *a, rng *r, int max_nodes)
{
	return random_graph_of(a, r, max_nodes, NULL, 0);
}

graph *random_graph_of(arena *a, rng *r, int max_nodes, const int64_t *extents,
		       int nextents)
{
	graph_maker m = { .a = a, .extents = extents, .nextents = nextents };
	int nnodes = pick(r, 1, max_nodes);
	for (int n = 0; n < nnodes; n++) {
		tensor_id in[MAX_NINPUTS] = { any_tensor(&m, r,
							 pick(r, 1, 3)) };
		const tensor_type type = m.tensors.at[in[0]].type;
		kernel *k = any_kernel(&m, r, &type);
		for (int i = 1; i < k->ninputs; i++)
			in[i] = like(&m, r, &k->inputs[i]);
		add_node(&m, k, in);
	}
	return make_graph(&m);
}

static bool same_type(const tensor_type *x, const tensor_type *y)
{
	bool same = x->type == y->type && x->ndim == y->ndim;
	for (int d = 0; same && d < x->ndim; d++)
		same = x->dims[d] == y->dims[d];
	return same;
}

int make_states(graph *g)
{
	int made = 0;
	for (tensor_id t = g->ntensors - 1; t >= 0; t--) {
		tensor *next = &g->tensors[t];
		for (tensor_id s = 0; s < t; s++) {
			tensor *x = &g->tensors[s];
			if (next->kind != TENSOR_RESULT ||
			    x->kind == TENSOR_RESULT ||
			    x->kind == TENSOR_STATE ||
			    !same_type(&x->type, &next->type))
				continue;
			x->kind = TENSOR_STATE;
			x->next = t;
			made++;
			break;
		}
	}
	return made;
}

graph *graph_of_sums(arena *a, rng *r, int64_t n, int64_t batch, int nnodes)
{
	graph_maker m = { .a = a };
	const int64_t dims[] = { n, n }, rows[] = { n, batch };
	int nbatches = pick(r, 1, 2);
	for (int i = 0; i < nbatches; i++)
		add_tensor(&m, TENSOR_INPUT, DT_F32, 2, rows);
	if (chance(r, 50))
		add_tensor(&m, TENSOR_CONSTANT, DT_F32, 2, dims);
	for (int i = 0; i < nnodes; i++) {
		int last = m.tensors.n - 1, kind = pick(r, 0, 9);
		int first = last < nbatches ? last : nbatches;
		tensor_id in[] = { pick(r, first, last), pick(r, first, last) };
		tensor_id from = pick(r, 0, nbatches - 1);
		const tensor_id twice[] = { from, from };
		if (last < nbatches || kind < 3)
			add_node(&m, kernel_matmul(a, n, n, batch, true),
				 twice);
		else
			add_node(&m,
				 kind < 8   ? kernel_add(a, 2, dims, 0)
				 : kind < 9 ? kernel_transpose(a, 2, dims)
					    : kernel_matmul(a, n, n, n, false),
				 in);
	}
	m.tensors.at[m.tensors.n - 1].output = chance(r, 50);
	graph *g = make_graph(&m);
	g->loss = NONE;
	if (chance(r, 50))
		make_states(g);
	return g;
}
