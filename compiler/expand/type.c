/* The element types of expressions, given those of the arguments. */
#include "config.h"

#include <math.h>

#include "compiler/expand/context.h"
#include "dsl/element_type.h"

/* The type of an attribute's elements. */
static etype attr_etype(const attr_value *v)
{
	switch (v->type) {
	case ATTR_FLOAT:
		return (etype){ .kind = TY_FLOAT };
	case ATTR_STRING:
		return (etype){ .kind = TY_STRING };
	case ATTR_BOOL:
		return etype_exact(DT_BOOL);
	case ATTR_TYPE:
	case ATTR_GRAPH:
		return etype_unknown;
	default:
		return (etype){ .kind = TY_INT };
	}
}

static etype value_etype(val v)
{
	switch (v.kind) {
	case VAL_INT:
		return (etype){ .kind = TY_INT };
	case VAL_FLOAT: /* inf is the greatest number of every type */
		return (etype){ .kind = isinf(v.f) ? TY_INT : TY_FLOAT };
	case VAL_BOOL:
		return etype_exact(DT_BOOL);
	case VAL_STRING:
		return (etype){ .kind = TY_STRING };
	default:
		return etype_unknown;
	}
}

static etype of_name(void *arg, const ast_expr *e)
{
	const context *cx = arg;
	/* The symbol of an inner lambda is not bound yet. */
	if (e->symbol && e->symbol->kind == SYMBOL_VAR)
		return etype_exact(DT_I64);
	const xname *n = find_name(cx, e->symbol);
	switch (n ? n->kind : NAME_UNBOUND) {
	case NAME_SIZE:
	case NAME_CONST:
		return value_etype(n->v);
	case NAME_TENSOR:
		return etype_exact(cx->values.at[n->index].type.type);
	case NAME_BROKEN:
		return n->broken->type;
	case NAME_ATTR:
		return attr_etype(cx->attrs[n->index]);
	case NAME_VAR:
	case NAME_UNBOUND:
		break;
	}
	return etype_unknown;
}

static etype said(void *arg, const ast_type *t)
{
	dtype type = type_said(arg, t);
	return type == DT_NONE ? etype_unknown : etype_exact(type);
}

static etype_scope scope_of(const context *cx)
{
	return (etype_scope){ .of_name = of_name, .said = said,
			      .arg = (context *)cx };
}

/* Whether infinity may be the value of an expression of constants.  No number
 * of i64 is infinite. */
static bool has_infinity(const context *cx, const ast_expr *e)
{
	const xname *n = e->kind == AST_NAME ? find_name(cx, e->symbol) : NULL;
	if (e->kind == AST_FLOAT ? isinf(e->f)
				 : n && n->kind == NAME_CONST &&
					   n->v.kind == VAL_FLOAT)
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (has_infinity(cx, e->args[i]))
			return true;
	return false;
}

/* The type of constants that meet no other number. */
static dtype default_type(const context *cx, bool floats)
{
	dtype shared = cx->shared == DT_BOOL ? DT_NONE : cx->shared;
	dtype t = cx->around != DT_NONE ? cx->around : shared;
	if (t != DT_NONE && (!floats || dtype_is_float(t)))
		return t;
	return floats ? DT_F32 : DT_I64;
}

dtype expand_operand_type(const context *cx, ast_expr *const *e, int n,
			  builtin_rule rule)
{
	etype_scope s = scope_of(cx);
	etype t = etype_of_operands(&s, e, n);
	bool floats = t.kind == TY_FLOAT || rule == RULE_FLOAT ||
		      rule == RULE_TEST;
	if (t.kind == TY_EXACT)
		return t.exact;
	if (!etype_is_constant(t))
		return DT_NONE;
	for (int i = 0; i < n; i++)
		floats |= cx->around == DT_NONE && has_infinity(cx, e[i]);
	return default_type(cx, floats);
}

val expand_chosen(context *cx, const ast_expr *x, const ast_expr *y, val v,
		  range at)
{
	if (v.kind != VAL_INT && v.kind != VAL_FLOAT)
		return v;
	etype_scope s = scope_of(cx);
	ast_expr *both[] = { (ast_expr *)x, (ast_expr *)y };
	etype t = etype_of_operands(&s, both, 2);
	if (t.kind == TY_FLOAT && v.kind == VAL_INT)
		return val_float((double)v.i);
	if (t.kind != TY_EXACT || t.exact == DT_BOOL)
		return v;
	kexpr *e = expand_as(cx, v, t.exact, at);
	return cx->failed ? val_bad : val_expr(e);
}

etype expand_etype(const context *cx, const ast_expr *e)
{
	etype_scope s = scope_of(cx);
	return etype_of(&s, e);
}

dtype expand_type(const context *cx, const ast_expr *e)
{
	return expand_operand_type(cx, (ast_expr *[]){ (ast_expr *)e }, 1,
				   RULE_NONE);
}
