/* The types of expressions.  Only constants convert by themselves: they have no
 * type until they are combined with a number that has one. */
#include "config.h"

#include "compiler/verify/reference/frame.h"

#include <math.h>
#include <string.h>

const ast_opaque *ref_opaque_of(const frame *f, const ast_expr *e)
{
	return e->kind == AST_CALL ? strmap_get(f->w->modules->opaques, e->name)
				   : NULL;
}

dtype ref_type_named(frame *f, const ast_expr *e)
{
	const ref_attr *v = ref_find_attr(f, e->name);
	const ref_name *n = ref_find(f, e->name);
	if (v && v->type == ATTR_TYPE)
		return (dtype)v->ints[0];
	return n && n->means == MEANS_TENSOR ? n->tensor->type
					     : dtype_parse(e->name);
}

static dtype type_of_name(const ref_name *n)
{
	if (!n) /* bound by a lambda not entered yet */
		return DT_I64;
	switch (n->means) {
	case MEANS_VAR:
		return DT_I64;
	case MEANS_ATTR:
		return n->attr->type == ATTR_BOOL ? DT_BOOL : DT_NONE;
	case MEANS_TENSOR:
		return n->tensor->type;
	case MEANS_NUMBER:
		break;
	}
	return n->v.type;
}

/* The type of x, or of y if x is a constant. */
static dtype either(frame *f, const ast_expr *x, const ast_expr *y)
{
	dtype t = ref_type_of(f, x);
	return t == DT_NONE ? ref_type_of(f, y) : t;
}

/* Whether a function of constants gives a constant. */
static bool is_arithmetic(const char *name)
{
	const builtin *b = builtin_find(BUILTIN_SCALAR, name);
	return b && strcmp(name, "random") &&
	       (b->rule == RULE_FLOAT || b->rule == RULE_NUMBER ||
		b->rule == RULE_INTEGER);
}

/* Whether a constant of this type stays one, because it is no number of a
 * type. */
static bool is_open(dtype t)
{
	return t == DT_NONE || t == DT_BOOL;
}

/* Whether e consists of literals, sizes and attributes only. */
bool ref_is_constant(frame *f, const ast_expr *e)
{
	const ref_name *n;
	switch (e->kind) {
	case AST_INT:
	case AST_FLOAT:
	case AST_BOOL:
	case AST_STRING:
		return true;
	case AST_NAME:
		n = ref_find(f, e->name);
		return n && (n->means == MEANS_NUMBER ||
			     n->means == MEANS_ATTR);
	case AST_INDEX:
		n = e->args[0]->kind == AST_NAME
			    ? ref_find(f, e->args[0]->name) : NULL;
		return n && n->means == MEANS_ATTR;
	case AST_IF:
		return ref_chosen(f, e->args) &&
		       is_open(either(f, e->args[1], e->args[2])) &&
		       ref_is_constant(f, ref_chosen(f, e->args));
	case AST_CALL:
		if (!strcmp(e->name, "len") || !strcmp(e->name, "size"))
			return true;
		if (!is_arithmetic(e->name))
			return false;
		break;
	case AST_UNARY:
		break;
	case AST_BINARY:
		/* If one argument decides alone, the other is left out. */
		if ((e->op == OP_AND || e->op == OP_OR) &&
		    ref_is_constant(f, e->args[0]) &&
		    (ref_eval(f, e->args[0]).i != 0) == (e->op == OP_OR))
			return true;
		break;
	default:
		return false;
	}
	for (int i = 0; i < e->nargs; i++)
		if (!ref_is_constant(f, e->args[i]))
			return false;
	return true;
}

const ast_expr *ref_chosen(frame *f, ast_expr *const args[3])
{
	if (!ref_is_constant(f, args[0]))
		return NULL;
	return args[ref_eval(f, args[0]).i ? 1 : 2];
}

/* A lambda's variables are in scope in its body. */
static dtype type_of_body(frame *f, const ast_expr *lambda)
{
	int n = f->names.n;
	for (int i = 0; i < lambda->nvars; i++)
		if (lambda->vars[i].name)
			ref_push(f, (ref_name){ .name = lambda->vars[i].name,
						.means = MEANS_VAR });
	dtype t = ref_type_of(f, lambda->args[0]);
	f->names.n = n;
	return t;
}

static dtype type_of_reduction(frame *f, const ast_expr *e, builtin_rule rule)
{
	if (rule == RULE_LOGIC)
		return DT_BOOL;
	if (rule == RULE_WHERE)
		return DT_I64;
	return type_of_body(f, e->args[0]);
}

static dtype type_of_opaque(frame *f, const ast_expr *call)
{
	const ast_opaque *o = ref_opaque_of(f, call);
	const char *declared = o->results[0].type.name;
	if (declared && dtype_parse(declared) != DT_NONE)
		return dtype_parse(declared);
	for (int i = 0; i < call->nargs; i++) {
		const ast_expr *arg = call->args[i];
		const char *own = o->params[i].type.name;
		bool same = declared ? own && !strcmp(own, declared) : !own;
		if (same)
			return ref_type_of(f, arg->kind == AST_INDEX
						      ? arg->args[0]
						      : arg);
	}
	return DT_NONE;
}

static dtype type_of_call(frame *f, const ast_expr *e)
{
	const builtin *b = builtin_find(BUILTIN_REDUCER, e->name);
	if (b)
		return type_of_reduction(f, e, b->rule);
	b = builtin_find(BUILTIN_SCALAR, e->name);
	switch (b ? b->rule : RULE_NONE) {
	case RULE_CAST:
	case RULE_BITCAST:
		return ref_type_named(f, e->args[1]);
	case RULE_SATURATE:
		return ref_type_of(f, e->args[0]);
	case RULE_TEST:
		return DT_BOOL;
	case RULE_SELECT:
		return either(f, e->args[1], e->args[2]);
	case RULE_POSITION:
		return DT_I64;
	case RULE_LENGTH:
	case RULE_POINTS:
	case RULE_NONE:
		return DT_NONE;
	default:
		break;
	}
	if (!strcmp(e->name, "random"))
		return DT_I64;
	for (int i = 0; i < e->nargs; i++) {
		dtype t = ref_type_of(f, e->args[i]);
		if (t != DT_NONE)
			return t;
	}
	return DT_NONE;
}

/* Whether a number is a fraction.  Infinity is one only if the type around it
 * could not be an integer type. */
static bool is_fraction(const frame *f, ref_number x)
{
	return x.fraction && (f->around == DT_NONE || !isinf(x.f));
}

static bool is_fractional_name(frame *f, const char *name)
{
	const ref_name *n = ref_find(f, name);
	if (!n)
		return false;
	return n->means == MEANS_ATTR ? n->attr->type == ATTR_FLOAT
				      : n->means == MEANS_NUMBER &&
						is_fraction(f, n->v);
}

/* Whether e, an expression of constants, has fractions. */
static bool is_fractional(frame *f, const ast_expr *e)
{
	const builtin *b;
	switch (e->kind) {
	case AST_FLOAT:
		return is_fraction(f, ref_fraction(e->f));
	case AST_NAME:
		return is_fractional_name(f, e->name);
	case AST_INDEX:
		return e->args[0]->kind == AST_NAME &&
		       is_fractional_name(f, e->args[0]->name);
	case AST_IF:
		return is_fractional(f, e->args[1]) ||
		       is_fractional(f, e->args[2]);
	case AST_CALL:
		b = builtin_find(BUILTIN_SCALAR, e->name);
		if (b && b->rule == RULE_SELECT)
			return is_fractional(f, e->args[1]) ||
			       is_fractional(f, e->args[2]);
		if (b && b->rule == RULE_FLOAT)
			return true;
		break;
	default:
		break;
	}
	for (int i = 0; i < e->nargs; i++)
		if (is_fractional(f, e->args[i]))
			return true;
	return false;
}

ref_number ref_chosen_value(frame *f, ast_expr *const args[3], ref_number x)
{
	dtype t = either(f, args[1], args[2]);
	if (x.type != DT_NONE || x.text)
		return x;
	if (!is_open(t))
		return ref_meet(x, t);
	dtype around = f->around;
	f->around = DT_I64; /* so infinity is no fraction */
	bool fraction = is_fractional(f, args[1]) || is_fractional(f, args[2]);
	f->around = around;
	return fraction && !x.fraction && !x.doubt ? ref_fraction((double)x.i)
						   : x;
}

dtype ref_open_type(frame *f, ast_expr *const *e, int n)
{
	dtype t = f->around != DT_NONE ? f->around
		  : f->shared != DT_BOOL ? f->shared
					 : DT_NONE;
	bool fraction = false;
	for (int i = 0; i < n; i++)
		fraction |= is_fractional(f, e[i]);
	if (t != DT_NONE && (!fraction || dtype_is_float(t)))
		return t;
	return fraction ? DT_F32 : DT_I64;
}

dtype ref_type_of(frame *f, const ast_expr *e)
{
	switch (e->kind) {
	case AST_BOOL:
		return DT_BOOL;
	case AST_NAME:
		return type_of_name(ref_find(f, e->name));
	case AST_INDEX:
		if (ref_opaque_of(f, e->args[0]))
			return type_of_opaque(f, e->args[0]);
		return type_of_name(ref_find(f, e->args[0]->name));
	case AST_GUARD:
		return ref_type_of(f, e->args[0]);
	case AST_UNARY:
		return e->op == OP_NOT ? DT_BOOL : ref_type_of(f, e->args[0]);
	case AST_BINARY:
		if (e->op >= OP_LT)
			return DT_BOOL;
		return either(f, e->args[0], e->args[1]);
	case AST_IF:
		return either(f, e->args[1], e->args[2]);
	case AST_CALL:
		return type_of_call(f, e);
	default:
		return DT_NONE;
	}
}
