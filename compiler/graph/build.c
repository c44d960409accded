/* Builds a graph: tensors, calls of operators, shared kernels. */
#include "config.h"

#include "compiler/graph/builder.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"

enum { FOLD_BUDGET = 1 << 22 };

/* ---- tensors ----------------------------------------------------------- */

bool tensor_type_ok(const tensor_type *t)
{
	int64_t n;
	if (t->ndim > MAX_NDIM || !ck_product(t->dims, t->ndim, &n) ||
	    !ck_mul(n, (int64_t)dtype_size(t->type), &n))
		return false;
	for (int d = 0; d < t->ndim; d++)
		if (t->dims[d] > GRAPH_MAX_BYTES)
			return false;
	return n <= GRAPH_MAX_BYTES;
}

int64_t tensor_nelem(const tensor_type *t)
{
	int64_t n = 1;
	for (int d = 0; d < t->ndim; d++)
		n *= t->dims[d];
	return n;
}

int64_t tensor_nbytes(const tensor_type *t)
{
	return tensor_nelem(t) * (int64_t)dtype_size(t->type);
}

char *tensor_type_text(arena *a, const tensor_type *t)
{
	char *s = arena_printf(a, "%s [", dtype_name(t->type));
	for (int d = 0; d < t->ndim; d++)
		s = arena_printf(a, "%s%s%" PRId64, s, d ? ", " : "",
				 t->dims[d]);
	return arena_printf(a, "%s]", s);
}

graph_builder *graph_begin(arena *a, tdl_modules *m, diag_sink *s,
			   const char *name)
{
	arena *tmp = arena_new();
	graph_builder *b = ARENA_NEW(tmp, graph_builder);
	b->arena = a;
	b->tmp = tmp;
	b->modules = m;
	b->sink = s;
	b->name = arena_strdup(a, name);
	b->nerrors = diag_errors(s);
	b->fold_budget = FOLD_BUDGET;
	b->precision = DT_NONE;
	b->loss = b->learning_rate = b->loss_scale = b->position = NONE;
	b->forward = b->step = b->cell = NONE;
	return b;
}

void graph_set_site(graph_builder *b, call_site site)
{
	b->model = site;
}

tensor_id build_tensor(graph_builder *b, tensor_kind kind,
		       const tensor_type *t)
{
	built_tensor *x = ARENA_NEW(b->tmp, built_tensor);
	x->t = (tensor){ .kind = kind, .type = *t, .producer = NONE,
			 .next = NONE, .gradient_of = NONE };
	x->node = x->next_of = x->known = NONE;
	vec_push(b->tmp, &b->tensors, x);
	return b->tensors.n - 1;
}

const tensor *graph_tensor(const graph_builder *b, tensor_id t)
{
	return &b->tensors.at[t]->t;
}

const tensor_type *graph_type(const graph_builder *b, tensor_id t)
{
	return &b->tensors.at[t]->t.type;
}

bool graph_is_known(const graph_builder *b, tensor_id t)
{
	return build_known(b, t) != NONE;
}

tensor_id build_known(const graph_builder *b, tensor_id t)
{
	const built_tensor *x = b->tensors.at[t];
	return x->t.kind == TENSOR_CONSTANT ? t : x->known;
}

void graph_name(graph_builder *b, tensor_id t, const char *name)
{
	tensor *x = &b->tensors.at[t]->t;
	if (!x->name && name)
		x->name = arena_strdup(b->arena, name);
}

void graph_set_batch(graph_builder *b, tensor_id input, int dim)
{
	b->tensors.at[input]->t.batch = 1 + dim;
}

tensor_id graph_add_input(graph_builder *b, const char *name,
			  const tensor_type *t)
{
	tensor_id id = build_tensor(b, TENSOR_INPUT, t);
	graph_name(b, id, name);
	vec_push(b->tmp, &b->inputs, id);
	return id;
}

tensor_id graph_add_constant(graph_builder *b, const char *name,
			     const tensor_type *t, const constant *c)
{
	tensor_id id = build_tensor(b, TENSOR_CONSTANT, t);
	b->tensors.at[id]->t.constant = *c;
	graph_name(b, id, name);
	return id;
}

tensor_id graph_add_weight(graph_builder *b, const char *name,
			   const tensor_type *t, const constant *c)
{
	tensor_id id = graph_add_constant(b, name, t, c);
	b->tensors.at[id]->t.parameter = true;
	return id;
}

tensor_id graph_add_number(graph_builder *b, const char *name,
			   const tensor_type *t, const constant *c)
{
	tensor_id id = graph_add_constant(b, name, t, c);
	b->tensors.at[id]->number = true;
	return id;
}

tensor_id graph_add_state(graph_builder *b, const char *name,
			  const tensor_type *t, const constant *initial)
{
	tensor_id id = build_tensor(b, TENSOR_STATE, t);
	b->tensors.at[id]->t.constant = *initial;
	graph_name(b, id, name);
	return id;
}

tensor_id graph_keep(graph_builder *b, tensor_id t)
{
	tensor_id from = build_known(b, t);
	if (!b->train || from == NONE)
		return t;
	const tensor *x = graph_tensor(b, from);
	return graph_add_state(b, x->name, &x->type, &x->constant);
}

void graph_set_parameter(graph_builder *b, tensor_id state)
{
	b->tensors.at[state]->t.parameter = true;
}

void graph_set_folded(graph_builder *b, tensor_id weight, const char *from)
{
	b->tensors.at[weight]->t.folded_from = arena_strdup(b->arena, from);
}

void graph_set_default(graph_builder *b, tensor_id input, const constant *c)
{
	constant *value = ARENA_NEW(b->arena, constant);
	*value = *c;
	b->tensors.at[input]->t.value = value;
}

uint64_t graph_key(const char *name, uint64_t seed)
{
	return hash_bytes(hash_bytes(HASH_SEED, &seed, sizeof(seed)), name,
			  strlen(name));
}

void *graph_alloc(graph_builder *b, size_t size)
{
	return arena_alloc(b->arena, size);
}

/* ---- kernels ----------------------------------------------------------- */

const kernel *build_share(graph_builder *b, const kernel *k)
{
	uint64_t hash = kernel_hash(k);
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&b->by_kernel, hash, &at)) >= 0;)
		if (kernel_equal(b->kernels.at[i], k))
			return b->kernels.at[i];
	hash_table_add(b->tmp, &b->by_kernel, hash, b->kernels.n);
	vec_push(b->tmp, &b->kernels, k);
	return k;
}

/* ---- nodes ------------------------------------------------------------- */

tensor_type build_result_type(const kernel *k)
{
	tensor_type t = { .type = k->type, .ndim = k->nout };
	for (int d = 0; d < k->nout; d++)
		t.dims[d] = kernel_dim(k, d);
	return t;
}

tensor_id build_node(graph_builder *b, const kernel *k, const char *base,
		     const char *op, const char *label,
		     const tensor_id *inputs)
{
	tensor_type type = build_result_type(k);
	tensor_id id = build_tensor(b, TENSOR_RESULT, &type);
	built_node n = { .base = base, .op = op, .label = label,
			 .call = b->ncalls, .kernel = k, .output = id,
			 .origin = b->origin, .forward = b->forward,
			 .step = b->step, .cell = b->cell, .site = b->site,
			 .inputs = ARENA_COPY(b->tmp, inputs, k->ninputs) };
	b->tensors.at[id]->node = b->nodes.n;
	vec_push(b->tmp, &b->nodes, n);
	return id;
}

/* ---- outputs, and what states become ------------------------------------ */

/* out[v0, ..] = x[v0, ..] */
kernel *build_copy_kernel(arena *a, const tensor_type *t)
{
	static const char *const names[MAX_NDIM] = { "i0", "i1", "i2", "i3",
						     "i4", "i5", "i6", "i7",
						     "i8", "i9", "i10", "i11" };
	kernel *k = ARENA_NEW(a, kernel);
	kexpr *index[MAX_NDIM];
	k->name = "copy";
	k->type = t->type;
	k->nvars = k->nout = t->ndim;
	k->vars = ARENA_ARRAY(a, kvar, t->ndim + 1);
	k->ninputs = 1;
	k->inputs = ARENA_NEW(a, kinput);
	k->inputs[0] = (kinput){ "x", t->type, t->ndim, { 0 } };
	for (int d = 0; d < t->ndim; d++) {
		k->vars[d] = (kvar){ names[d], KVAR_OUTPUT, t->dims[d], NULL };
		k->inputs[0].dims[d] = t->dims[d];
		index[d] = kx_var(a, d);
	}
	k->body = kx_read(a, 0, t->type, t->ndim, index, NULL);
	kernel_finish(a, k);
	return k;
}

tensor_id build_copy(graph_builder *b, tensor_id t, const char *name)
{
	const kernel *k =
		build_share(b, build_copy_kernel(b->arena,
						 &b->tensors.at[t]->t.type));
	b->ncalls++;
	return build_node(b, k, name, "copy", "", &t);
}

void graph_set_output(graph_builder *b, tensor_id t, const char *name)
{
	precision_restore(b, &t, DT_F32, name);
	const built_tensor *x = b->tensors.at[t];
	vec_push(b->tmp, &b->sources, t);
	if (x->t.kind != TENSOR_RESULT || x->t.output || x->next_of != NONE)
		t = build_copy(b, t, name);
	tensor *out = &b->tensors.at[t]->t;
	out->output = true;
	out->name = arena_strdup(b->arena, name);
	vec_push(b->tmp, &b->outputs, t);
}

void graph_set_next(graph_builder *b, tensor_id state, tensor_id next)
{
	tensor *s = &b->tensors.at[state]->t;
	const built_tensor *x = b->tensors.at[next];
	if (next == state)
		return;
	if (x->t.kind != TENSOR_RESULT || x->t.output || x->next_of != NONE)
		next = build_copy(b, next, arena_printf(b->arena, "%s.next",
							s->name));
	b->tensors.at[next]->next_of = state;
	s->next = next;
}
