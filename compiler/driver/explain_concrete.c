/* The strategies of an operator for given shapes. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "compiler/analysis/explain.h"
#include "compiler/driver/describe.h"
#include "compiler/driver/explain.h"
#include "kernel/monotone.h"

/* A stage of the operator, and what is to be said of it. */
typedef struct told {
	const explain_request *request;
	const expansion *expansion;
	const stage *stage;
	const kernel *kernel;
	const char *name;   /* of the stage: its label, or the result's */
	const char *result; /* of what it computes: the other way round */
	int order[MAX_NINPUTS]; /* inputs as in the signature */
	explanation said;
} told;

/* ---- names -------------------------------------------------------------- */

/* The declared name of dimension d of a parameter: "V", "d.1" in a pack; NULL
 * for an expression. */
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

/* The name of the dimension that a derived variable runs over; NULL for one
 * that has none. */
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

/* A derived variable has the name of its dimension, with the tensor's where
 * that is taken. */
static const char *var_name(arena *a, const told *t, int var)
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

/* Bytes per element; one without a type, or of a kind of types, counts 4. */
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

/* The result of the operator that stage i computes, NULL for another. */
static const ast_tensor *result_of(const ast_op *op, const expansion *x, int i)
{
	for (int j = 0; j < x->nresults; j++)
		if (x->results[j] == x->nparams + i)
			return &op->results[j];
	return NULL;
}

static told tell(driver *d, const explain_request *r, const expansion *x,
		 int i)
{
	told t = { .request = r, .expansion = x, .stage = &x->stages[i],
		   .kernel = x->stages[i].kernel };
	const kernel *k = t.kernel;
	int64_t *bytes = ARENA_ARRAY(d->arena, int64_t, k->ninputs + 1);
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
	t.said = explain_kernel(d->arena, k, (int)r->k, bytes);
	return t;
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
			      var_name(a, t, s->var), "kind",
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

/* The reducers of partial values, in the order in which they are told. */
static const reducer passing[] = { RED_SUM, RED_MAX, RED_MIN, RED_AND,
				   RED_OR };
enum { NPASSING = sizeof(passing) / sizeof(*passing) };

static json_t *json_passing(const told *t)
{
	json_t *all = json_array();
	for (int i = 0; i < t->kernel->ninputs * NPASSING; i++) {
		int j = t->order[i / NPASSING];
		reducer by = passing[i % NPASSING];
		reducer to = kernel_commutes_with(t->kernel, j, by);
		if (to != RED_NONE)
			json_array_append_new(
				all, json_pack("{s:s, s:s, s:s}", "input",
					       t->kernel->inputs[j].name,
					       "reducer", reducer_name(by),
					       "result", reducer_name(to)));
	}
	return all;
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
						 var_name(a, t, v), "reason",
						 t->said.why_not[v]));
	json_object_set_new(j, "strategies", all);
	json_object_set_new(j, "unsplittable", whole);
	json_object_set_new(j, "passes_partial", json_passing(t));
}

static cli_status print_json(driver *d, const explain_request *r,
			     const expansion *x)
{
	json_t *j = json_pack("{s:s, s:I}", "op", r->op->name, "k",
			      (json_int_t)r->k);
	json_t *stages = json_array();
	for (int i = 0; i < x->nstages; i++) {
		told t = tell(d, r, x, i);
		json_t *one = x->nstages == 1
				      ? json_incref(j)
				      : json_pack("{s:s}", "name", t.name);
		add_strategies(d->arena, one, &t);
		if (x->nstages == 1)
			json_decref(one);
		else
			json_array_append_new(stages, one);
	}
	if (x->nstages != 1)
		json_object_set(j, "stages", stages);
	json_decref(stages);
	return driver_print_json(d, j);
}

/* ---- text --------------------------------------------------------------- */

static const char *box_text(arena *a, const box *b)
{
	const char *s = "";
	if (b->n && box_is_empty(b))
		return "nothing";
	for (int d = 0; d < b->n; d++)
		s = arena_printf(a, "%s%s%lld:%lld", s, d ? ", " : "",
				 (long long)b->lo[d], (long long)b->hi[d]);
	return arena_printf(a, "[%s]", s);
}

static void print_strategy(arena *a, const told *t, const explain_strategy *s)
{
	const kernel *k = t->kernel;
	const char *kind = s->reducer == RED_NONE ? "split"
			   : k->vars[s->var].kind == KVAR_DERIVED
				   ? "reduced (derived)"
				   : "reduced";
	printf("\n%s, %s in %d: moves %s\n", var_name(a, t, s->var), kind,
	       t->said.k, units_bytes((double)s->bytes).text);
	text_table table = table_new(a, k->ninputs + 2);
	table_add(&table, "part");
	for (int i = 0; i < k->ninputs; i++)
		table_add(&table, k->inputs[t->order[i]].name);
	table_add(&table, t->result);
	for (int p = 0; p < t->said.k; p++) {
		const explain_part *part = &s->parts[p];
		table_add(&table, arena_printf(a, "%d", p));
		for (int i = 0; i < k->ninputs; i++)
			table_add(&table, box_text(a, &part->inputs[
							      t->order[i]]));
		const char *out = box_text(a, &part->output);
		table_add(&table, s->reducer == RED_NONE
					  ? out
					  : arena_printf(a, "%s partial %s",
							 out,
							 reducer_name(
								 s->reducer)));
	}
	table_print(&table, stdout, 2);
}

/* "x (Sum, Max), b (Max as Min)", "" for none. */
static const char *passing_text(arena *a, const told *t)
{
	const char *all = "";
	for (int i = 0; i < t->kernel->ninputs; i++) {
		const char *one = "";
		int j = t->order[i];
		for (int r = 0; r < NPASSING; r++) {
			reducer to =
				kernel_commutes_with(t->kernel, j, passing[r]);
			if (to == RED_NONE)
				continue;
			one = arena_printf(a, "%s%s%s%s%s", one,
					   *one ? ", " : "",
					   reducer_name(passing[r]),
					   to != passing[r] ? " as " : "",
					   to != passing[r] ? reducer_name(to)
							    : "");
		}
		if (*one)
			all = arena_printf(a, "%s%s%s (%s)", all,
					   *all ? ", " : "",
					   t->kernel->inputs[j].name, one);
	}
	return all;
}

static void print_told(arena *a, const told *t)
{
	const kernel *k = t->kernel;
	for (int i = 0; i < t->said.n; i++)
		print_strategy(a, t, &t->said.strategies[i]);
	bool any = false;
	for (int v = 0; v < k->nvars; v++) {
		if (!t->said.why_not[v])
			continue;
		printf("%s%s cannot be split: %s\n", any ? "" : "\n",
		       var_name(a, t, v), t->said.why_not[v]);
		any = true;
	}
	const char *passes = passing_text(a, t);
	if (*passes)
		printf("\npartial values pass: %s\n", passes);
}

static void print_text(driver *d, const explain_request *r, const expansion *x)
{
	arena *a = d->arena;
	if (x->nstages == 0)
		printf("%s returns its input unchanged.\n", r->op->name);
	for (int i = 0; i < x->nstages; i++) {
		told t = tell(d, r, x, i);
		if (x->nstages > 1)
			printf("%sstage %s\n", i ? "\n" : "", t.name);
		printf("%s\n", kernel_text(a, t.kernel));
		print_told(a, &t);
	}
}

/* ---- the operator ------------------------------------------------------- */

cli_status explain_concrete(driver *d, const explain_request *given)
{
	explain_request r = *given;
	cli_status status;
	const attr_value **attrs = explain_attrs(d, &r, &status);
	tensor_type *types = attrs ? explain_params(d, &r, attrs, &status)
				   : NULL;
	if (!types)
		return status;
	if (r.k == 0)
		r.k = 2;
	expansion *x = explain_expand(d, &r, types, attrs);
	if (!x)
		return CLI_INPUT;
	if (r.json)
		return print_json(d, &r, x);
	print_text(d, &r, x);
	return CLI_OK;
}
