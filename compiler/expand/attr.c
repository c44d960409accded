/* The values of attributes. */
#include "config.h"

#include "compiler/expand/signature.h"

static const char *const type_names[] = {
	[ATTR_INT] = "int",   [ATTR_FLOAT] = "float", [ATTR_STRING] = "string",
	[ATTR_BOOL] = "bool", [ATTR_TYPE] = "type",   [ATTR_AXIS] = "axis",
};

/* An attribute's value under construction. */
typedef struct elements {
	int64_t *ints;
	double *floats;
	const char **strings;
} elements;

static bool set_element(context *cx, const ast_attr *a, const ast_expr *e,
			elements *out, int i)
{
	if (a->type == ATTR_TYPE) {
		out->ints[i] = e->type ? type_said(cx, e->type) : DT_NONE;
		if (out->ints[i] != DT_NONE)
			return true;
	} else {
		val v = expand_scalar(cx, e);
		if (v.kind == VAL_BAD)
			return false;
		bool integer = a->type == ATTR_INT || a->type == ATTR_AXIS;
		if (integer && v.kind == VAL_INT) {
			out->ints[i] = v.i;
			return true;
		}
		if (a->type == ATTR_BOOL && v.kind == VAL_BOOL) {
			out->ints[i] = v.i;
			return true;
		}
		if (a->type == ATTR_STRING && v.kind == VAL_STRING) {
			out->strings[i] = v.s;
			return true;
		}
		if (a->type == ATTR_FLOAT &&
		    (v.kind == VAL_FLOAT || v.kind == VAL_INT)) {
			out->floats[i] = v.kind == VAL_INT ? (double)v.i : v.f;
			return true;
		}
	}
	expand_error(cx, DIAG_BAD_ATTRIBUTE, e->at,
		     "the attribute '%s' is of type %s", a->name,
		     type_names[a->type]);
	return false;
}

const attr_value *attr_from_expr(context *cx, const ast_attr *a,
				 const ast_expr *e)
{
	if (a->is_list && e->kind == AST_NAME) {
		const attr_value *v = find_attr(cx, e->symbol);
		bool same = v && v->is_list &&
			    (v->type == a->type ||
			     (v->type == ATTR_INT && a->type == ATTR_AXIS) ||
			     (v->type == ATTR_AXIS && a->type == ATTR_INT));
		if (same)
			return v;
	}
	if (a->is_list != (e->kind == AST_LIST)) {
		expand_error(cx, DIAG_BAD_ATTRIBUTE, e->at,
			     a->is_list ? "the attribute '%s' is a list"
					: "the attribute '%s' is not a list",
			     a->name);
		return NULL;
	}
	int n = a->is_list ? e->nargs : 1;
	attr_value *v = ARENA_NEW(cx->tmp, attr_value);
	elements out = { ARENA_ARRAY(cx->tmp, int64_t, n + 1),
			 ARENA_ARRAY(cx->tmp, double, n + 1),
			 ARENA_ARRAY(cx->tmp, const char *, n + 1) };
	*v = (attr_value){ a->type, a->is_list, n, out.ints, out.floats,
			   out.strings };
	for (int i = 0; i < n; i++)
		if (!set_element(cx, a, a->is_list ? e->args[i] : e, &out, i))
			return NULL;
	return v;
}

/* Whether a given value has the kind declared by the attribute. */
static bool fits(const ast_attr *a, const attr_value *v)
{
	bool integer = (a->type == ATTR_INT || a->type == ATTR_AXIS) &&
		       (v->type == ATTR_INT || v->type == ATTR_AXIS);
	return a->is_list == v->is_list && (integer || a->type == v->type);
}

const attr_value *bind_attr(context *cx, const ast_attr *a,
			    const attr_value *given)
{
	const attr_value *v = given;
	if (!v && a->init)
		v = attr_from_expr(cx, a, a->init);
	if (!v) {
		if (!cx->failed)
			expand_error(cx, DIAG_BAD_ATTRIBUTE, a->at,
				     "the attribute '%s' has no default and is "
				     "not given",
				     a->name);
		return NULL;
	}
	if (!fits(a, v)) {
		expand_error(cx, DIAG_BAD_ATTRIBUTE, a->at,
			     "the attribute '%s' is declared as %s%s", a->name,
			     type_names[a->type], a->is_list ? "[]" : "");
		return NULL;
	}
	if (a->is_list && a->length >= 0 && v->n != a->length) {
		expand_error(cx, DIAG_BAD_ATTRIBUTE, a->at,
			     "the attribute '%s' has %d elements, %d are "
			     "declared",
			     a->name, v->n, a->length);
		return NULL;
	}
	return v;
}
