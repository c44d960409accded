/* Calls operators: finds or makes their expansions, and adds nodes for stages
 * not computed before. */
#include "config.h"

#include "compiler/graph/builder.h"

#include <string.h>

#include "base/hash.h"

/* ---- expansions -------------------------------------------------------- */

/* The expansion of a call, shared by all calls with the same kinds of arguments
 * and attributes. */
struct built_expansion {
	const void *key;
	size_t len;
	expansion *x;
	const attr_value **attrs;
};

typedef VEC(char) bytes;

static void append(graph_builder *b, bytes *to, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(b->tmp, to, ((const char *)p)[i]);
}

static void append_int(graph_builder *b, bytes *to, int64_t v)
{
	append(b, to, &v, sizeof(v));
}

static void append_attr(graph_builder *b, bytes *to, const attr_value *v)
{
	append_int(b, to, v ? v->n : -1);
	for (int i = 0; v && i < v->n; i++) {
		if (v->type == ATTR_STRING)
			append(b, to, v->strings[i], strlen(v->strings[i]) + 1);
		else if (v->type == ATTR_FLOAT)
			append(b, to, &v->floats[i], sizeof(v->floats[i]));
		else
			append_int(b, to, v->ints[i]);
	}
}

/* A key of everything on which the expansion of a call depends. */
static bytes call_key(graph_builder *b, const ast_op *op,
		      const tensor_id *args, const attr_value *const *attrs)
{
	bytes key = { 0 };
	append(b, &key, &op, sizeof(op));
	for (int i = 0; i < op->nparams; i++) {
		const tensor_type *t = graph_type(b, args[i]);
		append_int(b, &key, t->type * (MAX_NDIM + 1) + t->ndim);
		append(b, &key, t->dims, (size_t)t->ndim * sizeof(*t->dims));
	}
	for (int i = 0; i < op->nattrs; i++)
		append_attr(b, &key, attrs[i]);
	return key;
}

static const built_expansion *find_expansion(const graph_builder *b,
					     const bytes *key, uint64_t hash)
{
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&b->by_call, hash, &at)) >= 0;) {
		const built_expansion *e = b->expansions.at[i];
		if (e->len == (size_t)key->n &&
		    !memcmp(e->key, key->at, e->len))
			return e;
	}
	return NULL;
}

/* Whether the result of every stage is small enough.  Adds an error if not. */
static bool all_fit(graph_builder *b, const expansion *x, const ast_op *op,
		    call_site site)
{
	for (int i = 0; i < x->nstages; i++) {
		tensor_type t = build_result_type(x->stages[i].kernel);
		if (tensor_type_ok(&t))
			continue;
		call_error(b->sink, DIAG_MODEL_TOO_LARGE, site, b->name,
			   "'%s' would make %s, more than 2^50 bytes",
			   op->name, tensor_type_text(b->tmp, &t));
		return false;
	}
	return true;
}

static const attr_value *copy_attr(arena *a, const attr_value *v)
{
	if (!v)
		return NULL;
	attr_value *to = ARENA_COPY(a, v, 1);
	if (v->type == ATTR_STRING) {
		const char **strings = ARENA_ARRAY(a, const char *, v->n + 1);
		for (int i = 0; i < v->n; i++)
			strings[i] = arena_strdup(a, v->strings[i]);
		to->strings = strings;
	} else if (v->type == ATTR_FLOAT) {
		to->floats = ARENA_COPY(a, v->floats, v->n);
	} else {
		to->ints = ARENA_COPY(a, v->ints, v->n);
	}
	return to;
}

/* The expansion of a call, cached: a graph repeats the same calls often.  NULL
 * with an error added if it fails. */
static const built_expansion *expand(graph_builder *b, const ast_op *op,
				     const tensor_id *args,
				     const attr_value *const *attrs,
				     call_site site)
{
	bytes key = call_key(b, op, args, attrs);
	uint64_t hash = hash_bytes(HASH_SEED, key.at, (size_t)key.n);
	const built_expansion *old = find_expansion(b, &key, hash);
	if (old)
		return old;
	tensor_type *params = ARENA_ARRAY(b->tmp, tensor_type, op->nparams + 1);
	for (int i = 0; i < op->nparams; i++)
		params[i] = *graph_type(b, args[i]);
	expansion *x = expand_op(b->arena, b->modules, b->sink, op, params,
				 attrs, site);
	if (!x || !all_fit(b, x, op, site))
		return NULL;
	for (int i = 0; i < x->nstages; i++)
		x->stages[i].kernel = (kernel *)build_share(
			b, x->stages[i].kernel);
	built_expansion *e = ARENA_NEW(b->tmp, built_expansion);
	*e = (built_expansion){ key.at, (size_t)key.n, x, NULL };
	e->attrs = ARENA_ARRAY(b->tmp, const attr_value *, op->nattrs + 1);
	for (int i = 0; i < op->nattrs; i++)
		e->attrs[i] = copy_attr(b->tmp, attrs[i]);
	hash_table_add(b->tmp, &b->by_call, hash, b->expansions.n);
	vec_push(b->tmp, &b->expansions, e);
	return e;
}

/* ---- what was computed before ------------------------------------------ */

static uint64_t hash_value(const kernel *k, const tensor_id *inputs)
{
	return hash_bytes(hash_bytes(HASH_SEED, &k, sizeof(k)), inputs,
			  (size_t)k->ninputs * sizeof(*inputs));
}

/* The index of a kernel's value on these inputs; -1 if it was not computed
 * yet. */
static int find_value(const graph_builder *b, const kernel *k,
		      const tensor_id *inputs)
{
	size_t size = (size_t)k->ninputs * sizeof(*inputs);
	uint64_t hash = hash_value(k, inputs);
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&b->by_inputs, hash, &at)) >= 0;) {
		const built_value *v = &b->values.at[i];
		if (v->kernel == k && !memcmp(v->inputs, inputs, size))
			return i;
	}
	return -1;
}

static void keep_value(graph_builder *b, const kernel *k,
		       const tensor_id *inputs, tensor_id value)
{
	built_value v = { k, ARENA_COPY(b->tmp, inputs, k->ninputs), value };
	hash_table_add(b->tmp, &b->by_inputs, hash_value(k, inputs),
		       b->values.n);
	vec_push(b->tmp, &b->values, v);
}

void build_replace(graph_builder *b, const tensor_id *to)
{
	for (int i = 0; i < b->nodes.n; i++) {
		built_node *n = &b->nodes.at[i];
		for (int j = 0; j < n->kernel->ninputs; j++)
			n->inputs[j] = to[n->inputs[j]];
	}
	for (int i = 0; i < b->tape.n; i++) {
		tape_call *c = &b->tape.at[i];
		for (int j = 0; j < c->op->nparams; j++)
			c->args[j] = to[c->args[j]];
	}
	hash_table_clear(&b->by_inputs);
	for (int i = b->values.n - 1; i >= 0; i--) {
		built_value *v = &b->values.at[i];
		for (int j = 0; j < v->kernel->ninputs; j++)
			v->inputs[j] = to[v->inputs[j]];
		v->value = to[v->value];
		if (find_value(b, v->kernel, v->inputs) < 0)
			hash_table_add(b->tmp, &b->by_inputs,
				       hash_value(v->kernel, v->inputs), i);
	}
}

/* ---- calls ------------------------------------------------------------- */

/* Whether the calls belong to a model that will be trained. */
static bool is_recording(const graph_builder *b)
{
	return b->train && !b->training;
}

/* Whether a tensor with known elements may change later: a weight may be
 * trained. */
static bool may_change(const graph_builder *b, tensor_id t)
{
	const built_tensor *x = b->tensors.at[t];
	return is_recording(b) &&
	       (x->t.kind == TENSOR_CONSTANT ? x->t.parameter
					     : x->known != NONE);
}

/* Computes a stage when planning, if possible.  Sets *changes to whether an
 * input may change later. */
static fold_result fold(graph_builder *b, const kernel *k,
			const tensor_id *inputs, call_site site,
			tensor_id *value, bool *changes)
{
	tensor_id known[MAX_NINPUTS + 1];
	*changes = false;
	for (int i = 0; i < k->ninputs; i++) {
		known[i] = build_known(b, inputs[i]);
		*changes |= may_change(b, inputs[i]);
		if (known[i] == NONE)
			return FOLD_NOT;
	}
	return fold_stage(b, k, known, site, value);
}

/* The name and the place of a call, used for its stages and their errors. */
typedef struct calling {
	const ast_op *op;
	const char *name;
	call_site site;
} calling;

/* Sets *value to the stage's result on the inputs.  Returns false if errors
 * were added. */
static bool make_value(graph_builder *b, const calling *c, const stage *st,
		       tensor_id *inputs, tensor_id *value)
{
	const kernel *k = st->kernel;
	bool changes;
	if (b->training)
		k = build_specialized(b, k, inputs);
	k = precision_widened(b, k, inputs);
	if (kernel_is_copy(k) && !is_recording(b)) {
		*value = inputs[0];
		return true;
	}
	int old = find_value(b, k, inputs);
	if (old >= 0) {
		*value = b->values.at[old].value;
		return true;
	}
	tensor_id known = NONE;
	fold_result r = fold(b, k, inputs, c->site, &known, &changes);
	if (r == FOLD_FAILED)
		return false;
	*value = known;
	if (r == FOLD_NOT || changes) {
		*value = build_node(b, k, c->name, c->op->name, st->label,
				    inputs);
		b->tensors.at[*value]->known = known;
	}
	keep_value(b, k, inputs, *value);
	return true;
}

static void record(graph_builder *b, const calling *c,
		   const built_expansion *e, const tensor_id *args,
		   const tensor_id *results)
{
	int n = c->op->nresults;
	tape_call call = {
		.op = c->op, .attrs = e->attrs, .name = c->name,
		.site = c->site, .own = ARENA_ARRAY(b->tmp, bool, n + 1),
		.args = ARENA_COPY(b->tmp, args, c->op->nparams),
		.results = ARENA_COPY(b->tmp, results, n),
	};
	for (int r = 0; r < n; r++) {
		built_tensor *x = b->tensors.at[results[r]];
		call.own[r] = !x->recorded;
		x->recorded = true;
	}
	vec_push(b->tmp, &b->tape, call);
}

bool graph_call(graph_builder *b, const ast_op *op, const char *name,
		const tensor_id *given, const attr_value *const *attrs,
		call_site site, tensor_id *results)
{
	tensor_id *args = ARENA_COPY(b->tmp, given, op->nparams);
	if (!precision_arguments(b, op, name, site, args))
		return false;
	const built_expansion *e = expand(b, op, args, attrs, site);
	const calling c = { op, name, site };
	if (!e)
		return false;
	const expansion *x = e->x;
	tensor_id *values = ARENA_ARRAY(b->tmp, tensor_id,
					x->nparams + x->nstages + 1);
	for (int i = 0; i < x->nparams; i++)
		values[i] = args[i];
	b->ncalls++;
	b->site = site;
	for (int i = 0; i < x->nstages; i++) {
		const stage *st = &x->stages[i];
		tensor_id inputs[MAX_NINPUTS + 1] = { 0 };
		for (int j = 0; j < st->kernel->ninputs; j++)
			inputs[j] = values[st->inputs[j]];
		if (!make_value(b, &c, st, inputs, &values[x->nparams + i]))
			return false;
	}
	for (int i = 0; i < x->nresults; i++) {
		results[i] = values[x->results[i]];
		/* A result that the call does not compute itself has no
		 * gradient of its own. */
		if (is_recording(b) && x->results[i] < x->nparams)
			results[i] = build_copy(b, results[i], name);
	}
	if (is_recording(b))
		record(b, &c, e, args, results);
	b->site = (call_site){ 0 };
	return true;
}
