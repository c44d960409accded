/* A kernel as JSON.  An expression is an array whose first element names its
 * kind: ["var", 0], ["int", "i64", 1], ["float", "f32", 0.5], ["read", input,
 * [index..]] or with a fourth element, the value outside, ["select", c, x, y],
 * ["cast", "f32", x], ["+", x, y]. */
#include "config.h"

#include <math.h>

#include "plan/write.h"

static json_t *int_of(int64_t i)
{
	return json_integer(i);
}

static json_t *of_expr(const kexpr *e);

static json_t *of_args(const kexpr *e, int n)
{
	json_t *all = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(all, of_expr(e->args[i]));
	return all;
}

/* JSON has no infinities; they are strings. */
static json_t *of_float(double f)
{
	if (isnan(f))
		return json_string("nan");
	if (isinf(f))
		return json_string(f < 0 ? "-inf" : "inf");
	return json_real(f);
}

static json_t *of_expr(const kexpr *e)
{
	json_t *j = json_array();
	switch (e->kind) {
	case KX_INT:
		json_array_append_new(j, json_string("int"));
		json_array_append_new(j, json_string(dtype_name(e->type)));
		json_array_append_new(j, int_of(e->i));
		return j;
	case KX_FLOAT:
		json_array_append_new(j, json_string("float"));
		json_array_append_new(j, json_string(dtype_name(e->type)));
		json_array_append_new(j, of_float(e->f));
		return j;
	case KX_VAR:
		json_array_append_new(j, json_string("var"));
		json_array_append_new(j, int_of(e->var));
		return j;
	case KX_READ:
		json_array_append_new(j, json_string("read"));
		json_array_append_new(j, int_of(e->input));
		json_array_append_new(j, of_args(e, kx_ndim(e)));
		if (e->guarded)
			json_array_append_new(
				j, of_expr(e->args[e->nargs - 1]));
		return j;
	case KX_FN:
		json_array_append_new(j, json_string(fn_name(e->fn)));
		break;
	case KX_SELECT:
		json_array_append_new(j, json_string("select"));
		break;
	case KX_CAST:
	case KX_BITCAST:
		json_array_append_new(j, json_string(e->kind == KX_CAST ?
						     "cast" : "bitcast"));
		json_array_append_new(j, json_string(dtype_name(e->type)));
		break;
	}
	json_t *args = of_args(e, e->nargs);
	json_array_extend(j, args);
	json_decref(args);
	return j;
}

static const char *const var_kinds[] = {
	[KVAR_OUTPUT] = "output",
	[KVAR_REDUCE] = "reduce",
	[KVAR_DERIVED] = "derived",
};

static json_t *of_vars(const kernel *k)
{
	json_t *all = json_array();
	for (int v = 0; v < k->nvars; v++) {
		const kvar *x = &k->vars[v];
		json_t *j = json_array();
		json_array_append_new(j, json_of_text(x->name));
		json_array_append_new(j, json_string(var_kinds[x->kind]));
		json_array_append_new(j, int_of(x->extent));
		if (x->indivisible_reason)
			json_array_append_new(
				j, json_of_text(x->indivisible_reason));
		json_array_append_new(all, j);
	}
	return all;
}

static json_t *of_inputs(const kernel *k)
{
	json_t *all = json_array();
	for (int i = 0; i < k->ninputs; i++) {
		const kinput *in = &k->inputs[i];
		json_t *dims = json_array();
		for (int d = 0; d < in->ndim; d++)
			json_array_append_new(dims, int_of(in->dims[d]));
		json_t *j = json_array();
		json_array_append_new(j, json_of_text(in->name));
		json_array_append_new(j, json_string(dtype_name(in->type)));
		json_array_append_new(j, dims);
		json_array_append_new(all, j);
	}
	return all;
}

static json_t *of_derived(const kernel *k)
{
	json_t *all = json_array();
	for (int i = 0; i < k->nderived; i++)
		json_array_append_new(
			all, json_pack("[i,i,i]", k->derived[i].var,
				       k->derived[i].input,
				       k->derived[i].dim));
	return all;
}

/* [name, "int", [1, 2]] */
static json_t *of_attr(const kattr *x)
{
	json_t *values = json_array();
	for (int i = 0; i < x->n; i++)
		json_array_append_new(
			values, x->ints	    ? int_of(x->ints[i])
				: x->floats ? of_float(x->floats[i])
					    : json_of_text(x->strings[i]));
	return json_pack("[o,s,o]", json_of_text(x->name),
			 x->ints     ? "int"
			 : x->floats ? "float"
				     : "string",
			 values);
}

static json_t *of_opaque(const kernel *k)
{
	json_t *slices = json_array();
	for (int s = 0; s < k->nslices; s++) {
		const kslice *x = &k->slices[s];
		json_t *at = json_array();
		for (int d = 0; d < x->ndim; d++)
			json_array_append_new(at, x->at[d] ? of_expr(x->at[d])
							   : json_null());
		json_array_append_new(slices,
				      json_pack("[i,o]", x->input, at));
	}
	json_t *j = json_pack("{s:o,s:o,s:i,s:i,s:o}", "name",
			      json_of_text(k->opaque), "symbol",
			      json_of_text(k->opaque_symbol), "hidden",
			      k->nhidden, "result", k->opaque_result,
			      "slices", slices);
	if (k->nattrs > 0) {
		json_t *attrs = json_array();
		for (int i = 0; i < k->nattrs; i++)
			json_array_append_new(attrs, of_attr(&k->attrs[i]));
		json_object_set_new(j, "attributes", attrs);
	}
	return j;
}

static json_t *of_cuda(const plan_kernel *pk)
{
	const plan_launch *l = &pk->launch;
	json_t *tiles = json_array();
	for (int i = 0; i < l->ntiles; i++)
		json_array_append_new(tiles,
				      json_pack("[i,o]", l->tiles[i].var,
						int_of(l->tiles[i].of)));
	return json_pack("{s:o,s:i,s:o,s:o}", "source", json_of_text(pk->cuda),
			 "threads", l->threads, "shared", int_of(l->shared),
			 "tiles", tiles);
}

static json_t *of_epilogues(const plan_kernel *pk)
{
	json_t *all = json_array();
	for (int i = 0; i < pk->nepilogues; i++) {
		const plan_epilogue *e = &pk->epilogues[i];
		json_array_append_new(all, json_pack("[i,i,i,o]", e->of,
						     e->after, e->input,
						     json_of_text(e->c)));
	}
	return all;
}

json_t *json_of_kernel(const plan_kernel *pk)
{
	const kernel *k = pk->kernel;
	json_t *j = json_object();
	json_object_set_new(j, "name", json_of_text(k->name));
	json_object_set_new(j, "type", json_string(dtype_name(k->type)));
	json_object_set_new(j, "vars", of_vars(k));
	json_object_set_new(j, "inputs", of_inputs(k));
	if (k->reducer != RED_NONE)
		json_object_set_new(j, "reducer",
				    json_string(reducer_name(k->reducer)));
	if (k->nderived > 0)
		json_object_set_new(j, "derived", of_derived(k));
	if (k->body)
		json_object_set_new(j, "body", of_expr(k->body));
	if (k->opaque)
		json_object_set_new(j, "opaque", of_opaque(k));
	if (pk->c)
		json_object_set_new(j, "c", json_of_text(pk->c));
	if (pk->nepilogues > 0)
		json_object_set_new(j, "epilogues", of_epilogues(pk));
	if (pk->cuda)
		json_object_set_new(j, "cuda", of_cuda(pk));
	return j;
}
