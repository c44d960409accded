/* The strategies of an operator for given shapes. */
#include "config.h"

#include <string.h>

#include "kernel/monotone.h"
#include "libtdl/explain.h"

/* ---- names -------------------------------------------------------------- */

/* The declared name of dimension d of a parameter: "V", or "d.1" in a pack;
 * NULL for an expression. */
static const char *declared_dim(arena *a, const ast_tensor *p, int ndim, int d)
{
	for (int i = 0; i < p->ndims; i++) {
		const ast_expr *e = p->dims[i];
		int width = e->kind == AST_PACK ? ndim - (p->ndims - 1) : 1;
		if (d < width || e->kind == AST_PACK) {
			if (e->kind == AST_PACK && d < width)
				return e->pack->name
					       ? arena_printf(a, "%s.%d",
							      e->pack->name, d)
					       : NULL;
			if (e->kind != AST_PACK)
				return e->kind == AST_NAME ? e->name : NULL;
		}
		d -= width;
	}
	return NULL;
}

/* The name of the dimension that a derived variable runs over; NULL if it has
 * none. */
static const char *derived_name(arena *a, const told *t, const kderived *x)
{
	int value = t->stage->inputs[x->input];
	if (value >= t->expansion->nparams)
		return NULL;
	return declared_dim(a, &t->request->op->params[value],
			    t->kernel->inputs[x->input].ndim, x->dim);
}

/* Whether an earlier variable has this name. */
static bool is_taken(arena *a, const told *t, int var, const char *name)
{
	const kernel *k = t->kernel;
	for (int v = 0; v < var; v++)
		if (!strcmp(k->vars[v].name, name))
			return true;
	for (int i = 0; i < k->nderived && k->derived[i].var < var; i++) {
		const char *other = derived_name(a, t, &k->derived[i]);
		if (other && !strcmp(other, name))
			return true;
	}
	return false;
}

/* A derived variable is named after its dimension.  If that name is taken, the
 * tensor's name is put before it. */
const char *told_var(arena *a, const told *t, int var)
{
	const kernel *k = t->kernel;
	for (int i = 0; i < k->nderived; i++) {
		const kderived *x = &k->derived[i];
		const char *name = x->var == var ? derived_name(a, t, x)
						 : NULL;
		if (name)
			return !is_taken(a, t, var, name)
				       ? name
				       : arena_printf(a, "%s.%s",
						      k->inputs[x->input].name,
						      name);
	}
	return k->vars[var].name;
}

/* The bytes of an element; 4 if it has no type or only a class of types. */
static int64_t element_bytes(const ast_tensor *declared, dtype t)
{
	switch (declared ? declared->type.kind : TYPE_EXACT) {
	case TYPE_SHARED:
	case TYPE_INT:
	case TYPE_FLOAT:
		return 4;
	default:
		return (int64_t)dtype_size(t);
	}
}

/* The result of the operator that stage i computes; NULL for an inner stage. */
static const ast_tensor *result_of(const ast_op *op, const expansion *x, int i)
{
	for (int j = 0; j < x->nresults; j++)
		if (x->results[j] == x->nparams + i)
			return &op->results[j];
	return NULL;
}

told explain_stage(arena *a, const explain_request *r, const expansion *x,
		   int i)
{
	told t = { .request = r, .expansion = x, .stage = &x->stages[i],
		   .kernel = x->stages[i].kernel };
	const kernel *k = t.kernel;
	int64_t *bytes = ARENA_ARRAY(a, int64_t, k->ninputs + 1);
	for (int j = 0; j < k->ninputs; j++) {
		int value = t.stage->inputs[j];
		bytes[j] = element_bytes(value < x->nparams
						 ? &r->op->params[value]
						 : NULL,
					 k->inputs[j].type);
	}
	bytes[k->ninputs] = element_bytes(result_of(r->op, x, i), k->type);
	const ast_tensor *result = result_of(r->op, x, i);
	const char *label = t.stage->label;
	t.result = result ? result->name : label;
	t.name = *label ? label : t.result;
	for (int j = 0; j < k->ninputs; j++) {
		int at = j;
		for (; at > 0 && t.stage->inputs[t.order[at - 1]] >
					 t.stage->inputs[j]; at--)
			t.order[at] = t.order[at - 1];
		t.order[at] = j;
	}
	t.said = explain_kernel(a, k, (int)r->k, bytes);
	return t;
}

/* Adds a passing of the kernel; p.inputs is a mask. */
static void add_passing(arena *a, said_passings *all, const told *t,
			kpassing p)
{
	said_passing said = { .by = p.by, .to = p.to };
	said.names = ARENA_ARRAY(a, const char *, t->kernel->ninputs);
	for (int i = 0; i < t->kernel->ninputs; i++)
		if (p.inputs >> t->order[i] & 1)
			said.names[said.n++] =
				t->kernel->inputs[t->order[i]].name;
	vec_push(a, all, said);
}

said_passings told_passing(arena *a, const told *t)
{
	static const reducer by[] = { RED_SUM, RED_MAX, RED_MIN, RED_AND,
				      RED_OR };
	enum { NBY = sizeof(by) / sizeof(*by) };
	const kernel *k = t->kernel;
	said_passings all = { 0 };
	for (int i = 0; i < k->ninputs * NBY; i++) {
		uint32_t input = UINT32_C(1) << t->order[i / NBY];
		kpassing p = { input, by[i % NBY],
			       kernel_passes(k, input, by[i % NBY]) };
		if (p.to != RED_NONE)
			add_passing(a, &all, t, p);
	}
	for (int i = 0; i < k->npassings; i++)
		if (__builtin_popcount(k->passings[i].inputs) > 1)
			add_passing(a, &all, t, k->passings[i]);
	return all;
}

/* ---- JSON --------------------------------------------------------------- */

static json_t *json_box(const box *b)
{
	json_t *j = json_array();
	for (int d = 0; d < b->n; d++)
		json_array_append_new(j, json_pack("[I, I]",
						   (json_int_t)b->lo[d],
						   (json_int_t)b->hi[d]));
	return j;
}

static json_t *json_part(const told *t, const explain_strategy *s, int p)
{
	const explain_part *part = &s->parts[p];
	json_t *in = json_array();
	for (int i = 0; i < t->kernel->ninputs; i++) {
		int j = t->order[i];
		json_array_append_new(
			in, json_pack("{s:s, s:o}", "name",
				      t->kernel->inputs[j].name, "region",
				      json_box(&part->inputs[j])));
	}
	return json_pack("{s:i, s:o, s:[{s:s, s:o, s:s?}]}", "part", p,
			 "inputs", in, "outputs", "name", t->result, "region",
			 json_box(&part->output), "partial",
			 s->reducer == RED_NONE ? NULL
						: reducer_name(s->reducer));
}

static json_t *json_strategy(arena *a, const told *t,
			     const explain_strategy *s)
{
	json_t *parts = json_array();
	for (int p = 0; p < t->said.k; p++)
		json_array_append_new(parts, json_part(t, s, p));
	json_t *j = json_pack("{s:s, s:s}", "variable",
			      told_var(a, t, s->var), "kind",
			      s->reducer == RED_NONE ? "split" : "reduce");
	if (s->reducer != RED_NONE)
		json_object_set_new(j, "reducer",
				    json_string(reducer_name(s->reducer)));
	if (t->kernel->vars[s->var].kind == KVAR_DERIVED)
		json_object_set_new(j, "derived", json_true());
	json_object_set_new(j, "bytes", json_integer(s->bytes));
	json_object_set_new(j, "parts", parts);
	return j;
}

static void add_strategies(arena *a, json_t *j, const told *t)
{
	json_t *all = json_array(), *whole = json_array();
	for (int i = 0; i < t->said.n; i++)
		json_array_append_new(all,
				      json_strategy(a, t,
						    &t->said.strategies[i]));
	for (int v = 0; v < t->kernel->nvars; v++)
		if (t->said.why_not[v])
			json_array_append_new(
				whole, json_pack("{s:s, s:s}", "variable",
						 told_var(a, t, v), "reason",
						 t->said.why_not[v]));
	json_object_set_new(j, "strategies", all);
	json_object_set_new(j, "unsplittable", whole);
	said_passings passing = told_passing(a, t);
	passing_add_json(j, &passing);
}

json_t *explain_json(arena *a, const explain_request *r, const expansion *x)
{
	json_t *j = json_pack("{s:s, s:I}", "op", r->op->name, "k",
			      (json_int_t)r->k);
	json_t *stages = json_array();
	for (int i = 0; i < x->nstages; i++) {
		told t = explain_stage(a, r, x, i);
		json_t *one = x->nstages == 1
				      ? json_incref(j)
				      : json_pack("{s:s}", "name", t.name);
		add_strategies(a, one, &t);
		if (x->nstages == 1)
			json_decref(one);
		else
			json_array_append_new(stages, one);
	}
	if (x->nstages != 1)
		json_object_set(j, "stages", stages);
	json_decref(stages);
	return j;
}

/* ---- the operator ------------------------------------------------------- */

expansion *explain_shapes(job *d, explain_request *r, cli_status *status)
{
	const attr_value **attrs = explain_attrs(d, r, status);
	tensor_type *types = attrs ? explain_params(d, r, attrs, status) : NULL;
	if (!types)
		return NULL;
	if (r->k == 0)
		r->k = 2;
	*status = CLI_INPUT;
	return explain_expand(d, r, types, attrs);
}
