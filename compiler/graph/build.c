/* Building a graph: tensors, calls of operators, shared kernels. */
#include "config.h"

#include "compiler/graph/builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/intern.h"

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
	b->expansions = strmap_new(tmp);
	b->nslots = 64;
	b->kernels = ARENA_ARRAY(tmp, const kernel *, b->nslots);
	b->fold_budget = FOLD_BUDGET;
	b->loss = b->learning_rate = b->forward = NONE;
	return b;
}

tensor_id build_tensor(graph_builder *b, tensor_kind kind,
		       const tensor_type *t)
{
	built_tensor *x = ARENA_NEW(b->tmp, built_tensor);
	x->t = (tensor){ .kind = kind, .type = *t, .producer = NONE,
			 .next = NONE, .gradient_of = NONE };
	x->node = x->next_of = NONE;
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

void graph_name(graph_builder *b, tensor_id t, const char *name)
{
	tensor *x = &b->tensors.at[t]->t;
	if (!x->name && name)
		x->name = arena_strdup(b->arena, name);
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

tensor_id graph_add_state(graph_builder *b, const char *name,
			  const tensor_type *t, const constant *initial)
{
	tensor_id id = build_tensor(b, TENSOR_STATE, t);
	b->tensors.at[id]->t.constant = *initial;
	graph_name(b, id, name);
	return id;
}

void graph_set_parameter(graph_builder *b, tensor_id state)
{
	b->tensors.at[state]->t.parameter = true;
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

static const kernel **kernel_slot(graph_builder *b, const kernel *k)
{
	uint64_t i = kernel_hash(k), mask = (uint64_t)b->nslots - 1;
	for (;; i++) {
		const kernel **slot = &b->kernels[i & mask];
		if (!*slot || kernel_equal(*slot, k))
			return slot;
	}
}

static void grow_kernels(graph_builder *b)
{
	const kernel **old = b->kernels;
	int n = b->nslots;
	b->nslots *= 2;
	b->kernels = ARENA_ARRAY(b->tmp, const kernel *, b->nslots);
	for (int i = 0; i < n; i++)
		if (old[i])
			*kernel_slot(b, old[i]) = old[i];
}

const kernel *build_share(graph_builder *b, const kernel *k)
{
	const kernel **slot = kernel_slot(b, k);
	if (*slot)
		return *slot;
	*slot = k;
	if (++b->nkernels * 2 > b->nslots)
		grow_kernels(b);
	return k;
}

/* ---- calls ------------------------------------------------------------- */

typedef VEC(char) text;

static void append(arena *a, text *t, const char *s)
{
	for (; *s; s++)
		vec_push(a, t, *s);
}

static void append_int(arena *a, text *t, int64_t v)
{
	char s[32];
	snprintf(s, sizeof(s), "%" PRId64 ",", v);
	append(a, t, s);
}

static void append_attr(arena *a, text *t, const attr_value *v)
{
	if (!v) {
		append(a, t, "-;");
		return;
	}
	append_int(a, t, v->n);
	for (int i = 0; i < v->n; i++) {
		if (v->type == ATTR_STRING) {
			append_int(a, t, (int64_t)strlen(v->strings[i]));
			append(a, t, v->strings[i]);
		} else if (v->type == ATTR_FLOAT) {
			int64_t bits;
			memcpy(&bits, &v->floats[i], sizeof(bits));
			append_int(a, t, bits);
		} else {
			append_int(a, t, v->ints[i]);
		}
	}
	append(a, t, ";");
}

/* All that the expansion of a call depends on, as a string. */
static const char *call_key(graph_builder *b, const ast_op *op,
			    const tensor_type *params,
			    const attr_value *const *attrs)
{
	text t = { 0 };
	append(b->tmp, &t, op->name);
	for (int i = 0; i < op->nparams; i++) {
		append(b->tmp, &t, " ");
		append(b->tmp, &t, dtype_name(params[i].type));
		for (int d = 0; d < params[i].ndim; d++)
			append_int(b->tmp, &t, params[i].dims[d]);
	}
	append(b->tmp, &t, "|");
	for (int i = 0; i < op->nattrs; i++)
		append_attr(b->tmp, &t, attrs[i]);
	vec_push(b->tmp, &t, '\0');
	return t.at;
}

static tensor_type kernel_result(const kernel *k)
{
	tensor_type t = { .type = k->type, .ndim = k->nout };
	for (int d = 0; d < k->nout; d++)
		t.dims[d] = kernel_dim(k, d);
	return t;
}

/* Whether what the stages make is not too large to be counted. */
static bool all_fit(graph_builder *b, const expansion *x, const ast_op *op,
		    call_site site)
{
	for (int i = 0; i < x->nstages; i++) {
		tensor_type t = kernel_result(x->stages[i].kernel);
		if (tensor_type_ok(&t))
			continue;
		diag_error_in(b->sink, DIAG_MODEL_TOO_LARGE,
			      site.place ? site.place : b->name,
			      "'%s' would make %s, more than 2^50 bytes",
			      op->name, tensor_type_text(b->tmp, &t));
		return false;
	}
	return true;
}

/* The expansion of a call: a graph repeats the same calls often. */
static const expansion *expand(graph_builder *b, const ast_op *op,
			       const tensor_id *args,
			       const attr_value *const *attrs, call_site site)
{
	tensor_type *params = ARENA_ARRAY(b->tmp, tensor_type, op->nparams + 1);
	for (int i = 0; i < op->nparams; i++)
		params[i] = *graph_type(b, args[i]);
	const char *key = call_key(b, op, params, attrs);
	expansion *x = strmap_get(b->expansions, key);
	if (x)
		return x;
	x = expand_op(b->arena, b->modules, b->sink, op, params, attrs, site);
	if (!x || !all_fit(b, x, op, site))
		return NULL;
	for (int i = 0; i < x->nstages; i++)
		x->stages[i].kernel = (kernel *)build_share(
			b, x->stages[i].kernel);
	strmap_put(b->expansions, key, x);
	return x;
}

static tensor_id add_node(graph_builder *b, const kernel *k, const char *base,
			  const char *op, const char *label,
			  const tensor_id *inputs)
{
	tensor_type type = kernel_result(k);
	tensor_id id = build_tensor(b, TENSOR_RESULT, &type);
	built_node n = { .base = base, .op = op, .label = label,
			 .call = b->ncalls, .kernel = k, .output = id,
			 .origin = b->origin, .forward = b->forward,
			 .step = NONE, .cell = NONE,
			 .inputs = ARENA_COPY(b->tmp, inputs, k->ninputs) };
	b->tensors.at[id]->node = b->nodes.n;
	vec_push(b->tmp, &b->nodes, n);
	return id;
}

bool graph_call(graph_builder *b, const ast_op *op, const char *name,
		const tensor_id *args, const attr_value *const *attrs,
		call_site site, tensor_id *results)
{
	const expansion *x = expand(b, op, args, attrs, site);
	if (!x)
		return false;
	tensor_id *values = ARENA_ARRAY(b->tmp, tensor_id,
					x->nparams + x->nstages + 1);
	for (int i = 0; i < x->nparams; i++)
		values[i] = args[i];
	b->ncalls++;
	for (int i = 0; i < x->nstages; i++) {
		const stage *st = &x->stages[i];
		tensor_id inputs[MAX_NINPUTS + 1] = { 0 };
		tensor_id *value = &values[x->nparams + i];
		for (int j = 0; j < st->kernel->ninputs; j++)
			inputs[j] = values[st->inputs[j]];
		switch (fold_stage(b, st->kernel, inputs, site, value)) {
		case FOLD_FAILED:
			return false;
		case FOLD_NOT:
			*value = add_node(b, st->kernel, name, op->name,
					  st->label, inputs);
			break;
		case FOLD_DONE:
			break;
		}
	}
	for (int i = 0; i < x->nresults; i++)
		results[i] = values[x->results[i]];
	return true;
}

/* ---- outputs, and what states become ------------------------------------ */

/* out[v0, ..] = x[v0, ..] */
static kernel *copy_kernel(graph_builder *b, const tensor *x)
{
	static const char *const names[MAX_NDIM] = { "i0", "i1", "i2", "i3",
						     "i4", "i5", "i6", "i7",
						     "i8", "i9", "i10", "i11" };
	arena *a = b->arena;
	const tensor_type *t = &x->type;
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

static tensor_id add_copy(graph_builder *b, tensor_id t, const char *name)
{
	const kernel *k =
		build_share(b, copy_kernel(b, &b->tensors.at[t]->t));
	b->ncalls++;
	return add_node(b, k, name, "copy", "", &t);
}

void graph_set_output(graph_builder *b, tensor_id t, const char *name)
{
	const built_tensor *x = b->tensors.at[t];
	if (x->t.kind != TENSOR_RESULT || x->t.output || x->next_of != NONE)
		t = add_copy(b, t, name);
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
		next = add_copy(b, next, arena_printf(b->arena, "%s.next",
						      s->name));
	b->tensors.at[next]->next_of = state;
	s->next = next;
}
