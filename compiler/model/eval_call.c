/* Calls in models, entries and defs: of operators, defs and functions. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "compiler/model/eval_expr.h"
#include "dsl/builtins.h"
#include "kernel/eval.h"

/* ---- attributes --------------------------------------------------------- */

/* Sets one element of an attribute. */
static bool set_element(const mvalue *v, attr_type want, int64_t *i,
			double *f, const char **s)
{
	*i = v->kind == MV_FLOAT || v->kind == MV_STRING ? 0 : v->i;
	*s = v->kind == MV_STRING ? v->s : NULL;
	*f = mv_is_number(v) ? mv_double(v) : 0;
	switch (want) {
	case ATTR_INT:
	case ATTR_AXIS:
		return v->kind == MV_INT;
	case ATTR_FLOAT:
		return mv_is_number(v);
	case ATTR_STRING:
		return v->kind == MV_STRING;
	case ATTR_BOOL:
		return v->kind == MV_BOOL;
	case ATTR_TYPE:
		return v->kind == MV_TYPE;
	case ATTR_GRAPH:
		break; /* operators have no such attributes */
	}
	return false;
}

/* A value converted to what an operator's attribute declares. */
static const attr_value *to_attr(evaluator *ev, const ast_attr *a,
				 const mvalue *v, range at)
{
	int n = a->is_list ? v->n : 1;
	bool ok = a->is_list == (v->kind == MV_LIST);
	int64_t *ints = ARENA_ARRAY(ev->tmp, int64_t, n + 1);
	double *floats = ARENA_ARRAY(ev->tmp, double, n + 1);
	const char **strings = ARENA_ARRAY(ev->tmp, const char *, n + 1);
	for (int i = 0; ok && i < n; i++)
		ok = set_element(a->is_list ? &v->items[i] : v, a->type,
				 &ints[i], &floats[i], &strings[i]);
	if (!ok) {
		mapping_error(ev, DIAG_BAD_ATTRIBUTE, at,
			      "the attribute '%s' of the operator cannot be %s",
			      a->name, mv_kind_name(v->kind));
		return NULL;
	}
	attr_value *r = ARENA_NEW(ev->tmp, attr_value);
	*r = (attr_value){ a->type, a->is_list, n, ints, floats, strings };
	return r;
}

static bool has_param(const ast_named *params, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (params[i].name == name)
			return true;
	return false;
}

/* The value that `, ..' gives an attribute or parameter: that of the entry's
 * attribute, or the def's or model's parameter, with the same name.  NULL if
 * there is none. */
static const mvalue *inherited(evaluator *ev, const char *name)
{
	const ast_block *def = ev->scope->def;
	bool has = def	       ? has_param(def->params, def->nparams, name)
		   : ev->model ? has_param(ev->model->params,
					   ev->model->nparams, name)
			       : ast_find_attr(ev->entry->attrs,
					       ev->entry->nattrs, name) >= 0;
	return has ? mapping_find(ev, name) : NULL;
}

static const attr_value **call_attrs(evaluator *ev, const ast_expr *e,
				     const ast_op *op)
{
	const attr_value **attrs =
		ARENA_ARRAY(ev->tmp, const attr_value *, op->nattrs + 1);
	for (int i = 0; i < op->nattrs && e->open_named; i++) {
		const mvalue *v = inherited(ev, op->attrs[i].name);
		if (!v || v->kind == MV_NULL)
			continue;
		attrs[i] = to_attr(ev, &op->attrs[i], v, e->at);
		if (!attrs[i])
			return NULL;
	}
	for (int j = 0; j < e->nnamed; j++) {
		const ast_named *named = &e->named[j];
		int i = named->index;
		mvalue v = mapping_eval(ev, named->value);
		if (v.kind == MV_NULL)
			continue;
		if (v.kind == MV_BAD ||
		    !(attrs[i] = to_attr(ev, &op->attrs[i], &v, named->at)))
			return NULL;
	}
	return attrs;
}

/* ---- numbers as tensors ------------------------------------------------- */

static const char *number_text(evaluator *ev, const mvalue *v)
{
	if (v->kind == MV_INT)
		return arena_printf(ev->tmp, "%" PRId64, v->i);
	return arena_printf(ev->tmp, "%.9g", v->f);
}

/* A tensor of type t without dimensions for the number v.  It is named after v;
 * equal numbers share a tensor. */
static tensor_id number_tensor(evaluator *ev, const mvalue *v, dtype t)
{
	char key[64];
	tensor_type type = { .type = t };
	snprintf(key, sizeof(key), "%d:%d:%a:%" PRId64, (int)t, (int)v->kind,
		 mv_double(v), v->kind == MV_INT ? v->i : 0);
	if (!ev->numbers)
		ev->numbers = strmap_new(ev->tmp);
	tensor_id *known = strmap_get(ev->numbers, key);
	if (known)
		return *known;
	void *data = graph_alloc(ev->b, dtype_size(t));
	if (v->kind == MV_INT && !dtype_is_float(t))
		elem_set_i64(t, data, 0, v->i);
	else
		elem_set_f64(t, data, 0, mv_double(v));
	known = ARENA_NEW(ev->tmp, tensor_id);
	*known = graph_add_constant(ev->b, number_text(ev, v), &type,
				    &(constant){ .data = data, .fill = true });
	strmap_put(ev->numbers, arena_strdup(ev->tmp, key), known);
	return *known;
}

/* Converts an operator's arguments to tensors.  A number becomes a tensor with
 * the type of the first tensor among them. */
static bool tensor_arguments(evaluator *ev, const ast_expr *e,
			     const mvalue *args, tensor_id *ids)
{
	dtype t = DT_NONE;
	for (int i = 0; i < e->nargs && t == DT_NONE; i++)
		if (args[i].kind == MV_TENSOR)
			t = graph_type(ev->b, (tensor_id)args[i].i)->type;
	for (int i = 0; i < e->nargs; i++) {
		const mvalue *v = &args[i];
		bool fits = mv_is_number(v) &&
			    (dtype_is_float(t) ||
			     (v->kind == MV_INT && dtype_is_int(t)));
		if (v->kind != MV_TENSOR && !fits) {
			mapping_error(ev, DIAG_BAD_CALL, e->args[i]->at,
				      t != DT_NONE && mv_is_number(v)
					      ? "%s does not fit a tensor of %s"
					      : "a tensor is expected, not %s",
				      mv_kind_name(v->kind), dtype_name(t));
			return false;
		}
		ids[i] = fits ? number_tensor(ev, v, t) : (tensor_id)v->i;
	}
	return true;
}

/* ---- calls of operators ------------------------------------------------ */

static call_site site_of(const evaluator *ev, const ast_expr *e)
{
	return ev->model ? (call_site){ .at = e->at }
			 : (call_site){ .place = ev->node->place };
}

static mvalue call_operator(evaluator *ev, const ast_expr *e,
			    const ast_op *op, const mvalue *args)
{
	mvalue bad = { .kind = MV_BAD };
	tensor_id *ids = ARENA_ARRAY(ev->tmp, tensor_id, e->nargs + 1);
	tensor_id *results = ARENA_ARRAY(ev->tmp, tensor_id, op->nresults + 1);
	if (e->nargs != op->nparams)
		return mapping_error(ev, DIAG_BAD_CALL, e->at,
				     "'%s' takes %d tensor%s, not %d",
				     op->name, op->nparams,
				     op->nparams == 1 ? "" : "s", e->nargs);
	if (!tensor_arguments(ev, e, args, ids))
		return bad;
	const attr_value **attrs = call_attrs(ev, e, op);
	if (!attrs || !graph_call(ev->b, op, ev->base, ids, attrs,
				  site_of(ev, e), results)) {
		if (attrs && ev->model)
			mapping_say_where(ev);
		ev->failed = true;
		return bad;
	}
	ev->steps -= ev->model ? MODEL_CALL_STEPS : 0;
	if (op->nresults == 1)
		return mv_tensor(results[0]);
	mvalue *items = ARENA_ARRAY(ev->tmp, mvalue, op->nresults);
	for (int i = 0; i < op->nresults; i++)
		items[i] = mv_tensor(results[i]);
	return mv_list(items, op->nresults);
}

mvalue mapping_overload(evaluator *ev, const ast_expr *e, const mvalue *args)
{
	const char *name = builtin_overload(e->op);
	const ast_op *op = name ? dsl_op(ev->modules, name) : NULL;
	if (op)
		return call_operator(ev, e, op, args);
	return mapping_error(ev, DIAG_BAD_CALL, e->at,
			     "there is no operator%s%s%s for '%s' of tensors",
			     name ? " '" : "", name ? name : "",
			     name ? "'" : "", ast_operator_text(e->op));
}

/* ---- calls of defs ------------------------------------------------------ */

/* The value of a parameter of a def.  An error was added if there is none. */
static mvalue argument(evaluator *ev, const ast_expr *e, const ast_block *def,
		       int i, const mvalue *args)
{
	const char *name = def->params[i].name;
	if (i < e->nargs)
		return args[i];
	for (int j = 0; j < e->nnamed; j++)
		if (e->named[j].index == i)
			return mapping_eval(ev, e->named[j].value);
	const mvalue *v = e->open_named ? inherited(ev, name) : NULL;
	if (v && (v->kind != MV_NULL || !def->params[i].value))
		return *v;
	if (def->params[i].value)
		return mapping_eval(ev, def->params[i].value);
	return mapping_error(ev, DIAG_BAD_CALL, e->at,
			     "'%s' is called without its argument '%s'",
			     def->name, name);
}

/* Calls a def.  A def sees only its parameters.  Names that it creates begin
 * with the name of the assignment that calls it. */
static mvalue call_def(evaluator *ev, const ast_expr *e, const ast_block *def,
		       const mvalue *args)
{
	mvalue *values = ARENA_ARRAY(ev->tmp, mvalue, def->nparams + 1);
	for (int i = 0; i < def->nparams; i++) {
		values[i] = argument(ev, e, def, i, args);
		if (values[i].kind == MV_BAD)
			return values[i];
	}
	const char *prefix = ev->scope->prefix;
	if (ev->model && *ev->base)
		prefix = arena_printf(ev->tmp, "%s.", ev->base);
	mapping_enter(ev, def, e->at, prefix);
	for (int i = 0; i < def->nparams; i++)
		mapping_set(ev, def->params[i].name, values[i]);
	mvalue r = mapping_run(ev, def);
	mapping_leave(ev);
	return r;
}

/* A call with a tensor argument means the operator of that name, otherwise the
 * function. */
mvalue mapping_eval_call(evaluator *ev, const ast_expr *e)
{
	mvalue *args = ARENA_ARRAY(ev->tmp, mvalue, e->nargs + 1), r;
	bool tensors = false;
	for (int i = 0; i < e->nargs; i++) {
		args[i] = mapping_eval(ev, e->args[i]);
		if (args[i].kind == MV_BAD)
			return args[i];
		tensors |= args[i].kind == MV_TENSOR;
	}
	if (e->calls.def)
		return call_def(ev, e, e->calls.def, args);
	const ast_op *op = e->calls.op;
	if (op && tensors)
		return call_operator(ev, e, op, args);
	if (mapping_builtin(ev, e, args, e->nargs, &r))
		return r;
	if (op)
		return call_operator(ev, e, op, args);
	return mapping_error(ev, DIAG_MAPPING, e->at,
			     "there is no operator, def or function '%s'",
			     e->name);
}
