/* Calls in entries and defs: of operators, defs and functions. */
#include "config.h"

#include "compiler/graph/mapping_expr.h"

/* ---- calls of operators ------------------------------------------------ */

/* One element of an attribute. */
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
		break; /* operators have none */
	}
	return false;
}

/* A value as what an operator's attribute declares. */
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

/* What `, ..` gives an attribute or a parameter: the attribute of the entry,
 * or the parameter of the def, that has the name; NULL if it has none. */
static const mvalue *inherited(evaluator *ev, const char *name)
{
	bool has = false;
	if (ev->def)
		for (int i = 0; i < ev->def->nparams; i++)
			has |= ev->def->params[i].name == name;
	else
		for (int i = 0; i < ev->entry->nattrs; i++)
			has |= ev->entry->attrs[i].name == name;
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
		int i = 0;
		while (i < op->nattrs && op->attrs[i].name != named->name)
			i++;
		if (i == op->nattrs) {
			mapping_error(ev, DIAG_BAD_ATTRIBUTE, named->at,
				      "'%s' has no attribute '%s'", op->name,
				      named->name);
			return NULL;
		}
		mvalue v = mapping_eval(ev, named->value);
		if (v.kind == MV_NULL)
			continue;
		if (v.kind == MV_BAD ||
		    !(attrs[i] = to_attr(ev, &op->attrs[i], &v, named->at)))
			return NULL;
	}
	return attrs;
}

static mvalue call_operator(evaluator *ev, const ast_expr *e,
			    const ast_op *op, const mvalue *args)
{
	tensor_id *ids = ARENA_ARRAY(ev->tmp, tensor_id, e->nargs + 1);
	tensor_id *results = ARENA_ARRAY(ev->tmp, tensor_id, op->nresults + 1);
	if (e->nargs != op->nparams)
		return mapping_error(ev, DIAG_BAD_CALL, e->at,
				     "'%s' takes %d tensor%s, not %d",
				     op->name, op->nparams,
				     op->nparams == 1 ? "" : "s", e->nargs);
	for (int i = 0; i < e->nargs; i++) {
		if (args[i].kind != MV_TENSOR)
			return mapping_error(ev, DIAG_BAD_CALL, e->args[i]->at,
					     "%s where a tensor is expected",
					     mv_kind_name(args[i].kind));
		ids[i] = (tensor_id)args[i].i;
	}
	const attr_value **attrs = call_attrs(ev, e, op);
	call_site site = { .place = ev->node->place };
	if (!attrs || !graph_call(ev->b, op, ev->node->name, ids, attrs, site,
				  results)) {
		ev->failed = true;
		return (mvalue){ .kind = MV_BAD };
	}
	if (op->nresults == 1)
		return mv_tensor(results[0]);
	mvalue *items = ARENA_ARRAY(ev->tmp, mvalue, op->nresults);
	for (int i = 0; i < op->nresults; i++)
		items[i] = mv_tensor(results[i]);
	return mv_list(items, op->nresults);
}

/* The value of a parameter of a def; with no error where there is none. */
static mvalue argument(evaluator *ev, const ast_expr *e, const ast_block *def,
		       int i, const mvalue *args)
{
	const char *name = def->params[i].name;
	if (i < e->nargs)
		return args[i];
	for (int j = 0; j < e->nnamed; j++)
		if (e->named[j].name == name)
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

/* A def sees its parameters and no other names. */
static mvalue call_def(evaluator *ev, const ast_expr *e, const ast_block *def,
		       const mvalue *args)
{
	mname *names = ARENA_ARRAY(ev->tmp, mname, def->nparams + 1);
	for (int i = 0; i < def->nparams; i++) {
		names[i].name = def->params[i].name;
		names[i].value = argument(ev, e, def, i, args);
		if (names[i].value.kind == MV_BAD)
			return names[i].value;
	}
	int first = ev->first;
	const ast_block *outer = ev->def;
	ev->first = ev->names.n;
	ev->def = def;
	for (int i = 0; i < def->nparams; i++)
		vec_push(ev->tmp, &ev->names, names[i]);
	mvalue r = mapping_run(ev, def);
	ev->names.n = ev->first;
	ev->first = first;
	ev->def = outer;
	return r;
}

/* An operator is meant before a function of that name if it is given a
 * tensor. */
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
	const ast_block *def = dsl_block(ev->modules, e->name);
	if (def)
		return call_def(ev, e, def, args);
	const ast_op *op = dsl_op(ev->modules, e->name);
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
